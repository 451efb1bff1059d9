/** An agent for editors, whose model follows its last message. */
import { existsSync, writeFileSync } from "node:fs";
import { scriptedModel } from "@holdfast/testing";
import { Agent, tool } from "holdfast";

const { BOOKED = "", SLOW = "" } = process.env;

console.log("A line that an agent prints must not reach the protocol.");

const book = tool({
	name: "book",
	description: "Books seats.",
	parameters: { type: "object", properties: { seats: { type: "number" } } },
	needsApproval: true,
	run: ({ seats }) => {
		writeFileSync(BOOKED, `${seats}\n`, { flag: "a" });
		return `booked ${seats}`;
	},
});

const clerk = new Agent({
	name: "clerk",
	description: "Books.",
	model: scriptedModel(({ messages }) =>
		messages.at(-1)?.type === "tool_result" ? "The clerk has booked." : call("book", 3),
	),
	tools: [book],
});

function call(name: string, seats: number) {
	return { toolCalls: [{ name, arguments: { seats } }] };
}

export default new Agent({
	model: scriptedModel(({ messages }) => {
		const last = messages.at(-1);
		if (last?.type === "tool_result") return `Done: ${last.text}`;
		const text = last?.text ?? "";
		if (text.startsWith("book")) return call("book", 2);
		if (text.startsWith("slow")) return call("slow", 1);
		if (text.startsWith("delegate"))
			return {
				toolCalls: [{ name: "delegate_to_clerk", arguments: { prompt: "Book.", run_in_background: false } }],
			};
		if (text.startsWith("echo"))
			return { toolCalls: [{ name: "echo", arguments: { message: "from the editor" } }] };
		if (text.startsWith("fail")) throw new Error("The model is away.");
		return { reasoning: "Let me see.", text: `You said: ${text}` };
	}),
	subagents: [clerk],
	tools: [
		book,
		tool({
			name: "slow",
			description: "Waits until a file is there.",
			parameters: { type: "object", properties: { seats: { type: "number" } } },
			retryPolicy: "idempotent",
			async run(_, { signal }) {
				while (!existsSync(SLOW)) {
					signal.throwIfAborted();
					await new Promise((passed) => setTimeout(passed, 5));
				}
				return "waited";
			},
		}),
	],
});
