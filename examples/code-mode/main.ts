// A question that takes 16 calls of two tools, out of 50. The model finds the tools, and calls them from one script.
import { codeMode } from "@holdfast/sandbox/code-mode";
import { scriptedModel } from "@holdfast/testing";
import { isToolResultMessage } from "@holdfast/upp";
import { agent } from "holdfast";
import { catalogue } from "./catalogue.ts";

const search = `return searchTools("list get invoice");`;
const sum = `const ids = await tools.list_invoice();
const invoices = await Promise.all(ids.map((id) => tools.get_invoice({ id })));
const open = invoices.filter((invoice) => invoice.isOpen);
return { open: open.length, euros: open.reduce((total, invoice) => total + invoice.euros, 0) };`;

// Two scripts in place of a language model. Put `openai("gpt-5.2")` of "@ai-sdk/openai" here: it writes such scripts itself.
const model = scriptedModel(({ messages }) => {
	const results = messages.filter(isToolResultMessage);
	const script = [search, sum][results.length];
	if (script !== undefined) return { toolCalls: [{ name: "run_code", arguments: { code: script } }] };
	const { open, euros } = JSON.parse(String(results.at(-1)?.results[0]?.result));
	return `${open} invoices are open, ${euros} euros in total.`;
});

// The declarations of 50 tools are longer than this, so the description names the tools, and scripts search.
const clerk = agent({ model, tools: [codeMode({ tools: catalogue, maxDeclarations: 2_000 })] });
const session = clerk.session("desk");
const { text } = await (await session.send("How much money do open invoices amount to?")).result();
const [, script] = (await session.state()).subagentTraces ?? [];
console.log(text);
console.log(
	`${catalogue.length} tools, ${model.requests.length} model calls, ${script?.toolExecutions?.length} tool calls`,
);
await clerk.close();
