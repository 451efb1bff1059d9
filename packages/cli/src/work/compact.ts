/** Summarises a conversation; from then on the model sees the summary instead. */

import type { Message, TokenUsage } from "@holdfast/upp";
import { cutText } from "@holdfast/upp";
import { Agent, type AgentOptions, AgentState, type Host } from "holdfast";
import { chatSummaryOf, keepChatSummary, summarised } from "./chat-summary.ts";

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

/** The result of a compaction: the summary, or why there is none. */
export type Compaction =
	| { readonly text: string; readonly usage: TokenUsage }
	| "no messages"
	| "no change"
	| "no summary";

/** Replaces the conversation of a session with a summary for its model, in every process. The session keeps everything. */
export async function compactSession(agent: Agent, host: Host, key: string): Promise<Compaction> {
	const { messages } = await agent.session(key).state();
	const last = messages.at(-1);
	if (last === undefined) return "no messages";
	const before = await chatSummaryOf(host, key);
	if (before?.until === last.id) return "no change";
	const options: AgentOptions = { ...agent };
	const made = await summarise(options, summarised(messages, before));
	if (made.text === "") return "no summary";
	await keepChatSummary(host, key, { text: made.text, until: last.id });
	return made;
}

/** Describes a compaction to the user. */
export function compactionNote(compaction: Compaction): string {
	switch (compaction) {
		case "no messages":
			return "No messages yet.";
		case "no change":
			return "The conversation has not changed since the last summary.";
		case "no summary":
			return "The model returned no summary. Nothing changed.";
		default:
			return `${compaction.text}\n\nFrom now on the model sees this summary instead of the earlier conversation, which the session keeps in full.`;
	}
}

/** Asks a model for the summary. */
async function summarise(
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
