/** Summarises a conversation; the model sees the summary instead. */

import type { Message, TokenUsage } from "@holdfast/upp";
import { cutText } from "@holdfast/upp";
import { Agent, type AgentOptions, AgentState } from "holdfast";

const INSTRUCTIONS =
	"You summarise conversations. Keep names, numbers, paths, decisions, open tasks and what tools found out. Answer with the summary only.";
/** Maximum number of characters summarised per tool result, and in total. */
const LONGEST_RESULT = 2_000;
const LONGEST = 400_000;

/** Returns the conversation as text; for a long one, only the end: at most `longest` characters. */
export function transcriptOf(messages: readonly Message[], longest: number = LONGEST): string {
	const lines = messages.map((message) => {
		if (message.type !== "tool_result") return `${message.type}: ${message.text}`;
		const { results } = message as Message & { readonly results: readonly { readonly result: unknown }[] };
		return results.map(({ result }) => `tool: ${cutText(textOf(result), LONGEST_RESULT)}`).join("\n");
	});
	return lines.join("\n").slice(-longest).toWellFormed();
}

/** Asks a model for the summary. */
export async function summarise(
	options: Pick<AgentOptions, "model" | "prices">,
	messages: readonly Message[],
): Promise<{ readonly text: string; readonly usage: TokenUsage }> {
	const { model, prices } = options;
	const writer = new Agent({
		model,
		...(prices === undefined ? {} : { prices }),
		instructions: INSTRUCTIONS,
	});
	const request = `Summarise this conversation:\n${transcriptOf(messages)}`;
	const { turn } = await writer.stream(request, AgentState.initial()).result;
	return { text: turn.response.text.trim(), usage: turn.usage };
}

function textOf(result: unknown): string {
	return typeof result === "string" ? result : (JSON.stringify(result) ?? "");
}
