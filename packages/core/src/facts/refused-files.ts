// How the model sees files that a provider refused (part of evolve, keeps I2). The history keeps the files, but a
// provider that received them again would refuse every later request of the session.
import {
	type ContentBlock,
	isContentBlock,
	isToolResultMessage,
	isUserMessage,
	type Message,
	ToolResultMessage,
	type UserContent,
	UserMessage,
} from "@holdfast/upp";
import { AgentState } from "../state/index.ts";
import type { ErrorData } from "./fact.ts";
import { changedFrom } from "./sent-prefix.ts";
import type { SessionState } from "./session-state.ts";

/** Errors of requests that would fail again if repeated. */
const refusals: ReadonlySet<string> = new Set([
	"INVALID_REQUEST",
	"CONTEXT_LENGTH_EXCEEDED",
	"CONTENT_FILTERED",
]);

/**
 * Returns the state after a run ended with an error. Files that were not followed by an answer are hidden if they may be
 * the cause.
 */
export function withoutRefusedFiles(state: SessionState, error: ErrorData | undefined): SessionState {
	if (error === undefined || !refusals.has(error.code)) return state;
	const { messages } = AgentState.partsOf(state.agent);
	let from = messages.length;
	let found = false;
	for (let at = messages.length - 1; at >= 0 && messages.at(at)?.type !== "assistant"; at--) {
		from = at;
		found ||= hasFiles(messages.at(at) as Message);
	}
	if (!found) return state;
	const shown = state.context.from(from).map((message, at) => {
		const given = messages.at(from + at) as Message;
		return hasFiles(given) ? withoutFiles(message, given) : message;
	});
	const sent = changedFrom(state.sent, from, "files");
	return { ...state, context: state.context.until(from).appendAll(shown), sent };
}

/** Returns the ids of the messages with hidden files; absent if there are none. */
export function refusedIds({ agent, context }: SessionState): { refused?: readonly string[] } {
	const { messages } = AgentState.partsOf(agent);
	if (context === messages) return {};
	const shown = context.toArray();
	const refused = messages.toArray().filter((given, at) => isNoted(given, shown[at] as Message));
	return refused.length === 0 ? {} : { refused: refused.map(({ id }) => id) };
}

/** Whether notes replace a message's files. */
function isNoted(given: Message, shown: Message): boolean {
	if (given === shown) return false;
	if (isUserMessage(given)) return hasFiles(given) && !hasFiles(shown);
	if (!isToolResultMessage(given) || !isToolResultMessage(shown)) return false;
	return given.results.some(({ result }, at) => {
		const visible = shown.results[at]?.result;
		return filesOf(result) !== undefined && Array.isArray(visible) && filesOf(visible) === undefined;
	});
}

function hasFiles(message: Message): boolean {
	if (isUserMessage(message)) return message.content.some(isFile);
	return isToolResultMessage(message) && message.results.some(({ result }) => filesOf(result) !== undefined);
}

/**
 * Returns a message with a note in place of each file.
 * @param given the message with its files, if `message` is its displayed form.
 */
export function withoutFiles(message: Message, given: Message = message): Message {
	if (isUserMessage(given)) return new UserMessage(given.content.map(noted) as readonly UserContent[], given);
	if (!isToolResultMessage(given) || !isToolResultMessage(message)) return message;
	const results = given.results.map((result, at) => {
		const blocks = filesOf(result.result);
		return blocks === undefined ? (message.results[at] ?? result) : { ...result, result: blocks.map(noted) };
	});
	return new ToolResultMessage(results, given);
}

/** Returns the content of a result with files; undefined if it has none. */
function filesOf(result: unknown): readonly ContentBlock[] | undefined {
	return Array.isArray(result) && result.every(isContentBlock) && result.some(isFile) ? result : undefined;
}

function isFile({ type }: ContentBlock): boolean {
	return type !== "text" && type !== "reasoning";
}

function noted(block: ContentBlock): ContentBlock {
	if (!isFile(block)) return block;
	const { title } = block as { title?: string };
	const name = title === undefined ? block.type : `${block.type} ${title}`;
	return { type: "text", text: `[${name}: the provider refused the request with it, so it is not shown]` };
}
