// The agent of a project that is upgraded while it runs. Both versions serve it, so it uses only names that both have. With HOLDS
// in the environment, a booking never ends: its process is killed in it.
import { appendFileSync } from "node:fs";
import { scriptedModel } from "@holdfast/testing";
import { agent, tool } from "holdfast";
import { z } from "zod";

const book = tool({
	name: "book",
	description: "Books a room.",
	parameters: z.object({ city: z.string() }),
	retryPolicy: "idempotent",
	run: async ({ city }, { idempotencyKey, attempt }) => {
		appendFileSync("bookings.jsonl", `${JSON.stringify({ city, key: idempotencyKey, attempt })}\n`);
		if (process.env.HOLDS === "1") await new Promise(() => setInterval(() => {}, 1_000));
		return `booked in ${city}`;
	},
});

const pay = tool({
	name: "pay",
	description: "Pays an invoice.",
	parameters: z.object({ invoice: z.string() }),
	needsApproval: true,
	run: ({ invoice }) => `${invoice} is paid`,
});

export default agent({
	name: "clerk",
	tools: [book, pay],
	model: scriptedModel(({ messages }) => {
		const last = messages.at(-1);
		if (last?.type === "tool_result") return `Done: ${last.text}`;
		const [verb, what = ""] = (last?.text ?? "").split(" ");
		if (verb === "book") return { toolCalls: [{ name: "book", arguments: { city: what } }] };
		if (verb === "pay") return { toolCalls: [{ name: "pay", arguments: { invoice: what } }] };
		return `Heard: ${last?.text}`;
	}),
});
