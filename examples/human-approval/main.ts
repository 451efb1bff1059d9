// A refund that a person approves, perhaps days later and in another process. Until then, the run waits in a file.
import { scriptedModel } from "@holdfast/testing";
import { isToolResultMessage } from "@holdfast/upp";
import { agent, tool } from "holdfast";
import { sqliteHost } from "holdfast/sqlite";
import { z } from "zod";

const [command = "", ...words] = process.argv.slice(2);

const refund = tool({
	name: "refund",
	description: "Refunds an order.",
	parameters: z.object({ order: z.string(), euros: z.number() }),
	// Small sums are refunded at once. `needsApproval: true` would ask for each.
	needsApproval: ({ euros }) => euros > 20,
	// The payment provider recognizes the key, so a call that a crash interrupted can run again.
	retryPolicy: "idempotent",
	run: ({ order, euros }) => `refunded ${euros} euros for ${order}`,
});

// A few rules in place of a language model. Put `openai("gpt-5.2")` of "@ai-sdk/openai" here.
const model = scriptedModel(({ messages }) => {
	const last = messages.at(-1);
	if (last !== undefined && isToolResultMessage(last))
		return `Done: ${JSON.stringify(last.results[0]?.result)}`;
	const { order = "", euros = "0" } =
		/(?<order>[A-Z]-\d+)\D*(?<euros>\d+)?/.exec(last?.text ?? "")?.groups ?? {};
	return { toolCalls: [{ name: "refund", arguments: { order, euros: Number(euros) } }] };
});

const host = sqliteHost("./desk.db");
const desk = agent({ model, tools: [refund], host });
const session = desk.session("customer-42");

if (command === "ask") {
	const { outcome, text } = await (await session.send(words.join(" "))).result();
	console.log(
		outcome === "waiting" ? "It waits for approval. Now: main.ts approve, or main.ts deny REASON" : text,
	);
} else if (command === "approve" || command === "deny") {
	const waiting = await session.pending();
	for (const call of waiting) console.log(`${command}: ${call.toolName} ${JSON.stringify(call.arguments)}`);
	const reason = words.join(" ");
	const answers = waiting.map(({ toolCallId }) =>
		command === "approve" ? { toolCallId, approved: true } : { toolCallId, approved: false, reason },
	);
	if (answers.length === 0) console.log("Nothing waits.");
	else console.log((await (await session.answer(answers)).result()).text);
} else console.log('main.ts ask "Refund order A-7, 50 euros" | approve | deny REASON');

await desk.close();
await host.close();
