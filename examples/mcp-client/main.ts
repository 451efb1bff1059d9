// An agent with the tools of an MCP server. The descriptions of the tools are stored: if the server changes one later, the tool is
// refused until a person has reviewed it.
import { join } from "node:path";
import { connectMcp } from "@holdfast/mcp";
import { scriptedModel } from "@holdfast/testing";
import { isToolResultMessage } from "@holdfast/upp";
import { agent } from "holdfast";

await using mcp = await connectMcp({
	shop: { command: process.execPath, args: ["--no-warnings", join(import.meta.dirname, "server.ts")] },
});
console.log(
	"tools:",
	mcp
		.tools()
		.map(({ name }) => name)
		.join(", "),
);

// A few rules in place of a language model. Put `openai("gpt-5.2")` of "@ai-sdk/openai" here.
const model = scriptedModel(({ messages }) => {
	const last = messages.at(-1);
	if (last !== undefined && isToolResultMessage(last)) return `There are ${last.results[0]?.result} left.`;
	const article = /lamp|desk/.exec(last?.text ?? "")?.[0] ?? "";
	return { toolCalls: [{ name: "stock", arguments: { article } }] };
});

const clerk = agent({ model, tools: mcp.tools() });
console.log((await clerk.query("How many lamps are there?")).response.text);
