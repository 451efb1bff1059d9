// An agent for tests of crashes: it says that it looks, looks by a tool, and says what it saw; its second answer stops at
// the fourth word for ever, or does not.

import { scriptedModel } from "@holdfast/testing";
import type { AgentOptions } from "holdfast";

const never = new Promise(() => {});

/** The same agent in every process. */
export function slowAgent(second: "stops" | "continues"): AgentOptions {
	const model = scriptedModel(({ messages }) => {
		const isSecond = messages.some(({ type }) => type === "tool_result");
		if (!isSecond) return { text: "Let me have a look.", toolCalls: [{ name: "look", id: "l" }] };
		const beforeDelta = (number: number): unknown => (second === "stops" && number === 3 ? never : undefined);
		return { text: "It is all there, as it should be.", beforeDelta };
	});
	const look = {
		name: "look",
		description: "Looks.",
		parameters: { type: "object" },
		retryPolicy: "pure" as const,
		async *execute() {
			yield { type: "delta", delta: "looking " };
			yield { type: "delta", delta: "around" };
			yield { type: "complete", output: "seen" };
		},
	};
	return { model, tools: [look] };
}
