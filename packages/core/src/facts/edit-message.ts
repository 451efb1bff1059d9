// Replaces or removes a message of the history, alone or with everything after it: the only change to earlier messages
// (part of evolve, keeps I2). If an edit removes a call or its result, the other is removed too, because providers
// refuse a history that has only one of them.
import { AssistantMessage, type Message, ToolResultMessage } from "@holdfast/upp";
import { AgentState, type List } from "../state/index.ts";
import { changedFrom } from "./sent-prefix.ts";
import type { SessionState } from "./session-state.ts";

/** Returns the state with a message replaced or removed. */
export function editMessage(
	state: SessionState,
	seq: number,
	messageId: string,
	replacement: Message | undefined,
): SessionState {
	const change = (list: List<Message>): Edited => edited(list, messageId, replacement);
	const parts = AgentState.partsOf(state.agent);
	const { messages, from } = change(parts.messages);
	const shown = state.context === parts.messages ? { messages, from } : change(state.context);
	return {
		...state,
		seq,
		agent: AgentState.ofParts({ ...parts, messages }),
		context: shown.messages,
		sent: changedFrom(state.sent, shown.from, "edited"),
	};
}

interface Edited {
	readonly messages: List<Message>;
	/** The position of the first change. */
	readonly from: number;
}

/**
 * Returns the messages with one of them replaced or removed, so that no call or result is left without the other. The
 * cost is proportional to the number of messages from the first change to the end.
 */
function edited(messages: List<Message>, messageId: string, given: Message | undefined): Edited {
	const at = positionOf(messages, messageId);
	const before = messages.at(at);
	if (before === undefined) return { messages, from: messages.length };
	const had = idsOf(before);
	// Calls or results that the edit adds have no counterpart.
	const now = given && only(given, (id) => had.has(id));
	const kept = now === undefined ? new Set() : idsOf(now);
	const removed = new Set([...had].filter((id) => !kept.has(id)));
	const rest = messages.from(at + 1);
	const isOfCalls = callsOf(before).length > 0;
	const start = isOfCalls ? at : startOf(messages, at, removed);
	const changed = [
		...withoutCalls(messages.from(start).slice(0, at - start), removed),
		...(now === undefined ? [] : [now]),
		...(isOfCalls && removed.size > 0 ? withoutResults(rest, removed) : rest),
	];
	return { messages: messages.until(start).appendAll(changed), from: start };
}

/**
 * Returns the position of the last message with an id, searching from the end. Returns the number of messages if none has
 * it.
 */
function positionOf(messages: List<Message>, messageId: string): number {
	for (let at = messages.length - 1; at >= 0; at--) if (messages.at(at)?.id === messageId) return at;
	return messages.length;
}

/** Returns the first position before `end` from which these calls are made. */
function startOf(messages: List<Message>, end: number, calls: ReadonlySet<string>): number {
	const missing = new Set(calls);
	let start = end;
	for (let at = end - 1; at >= 0 && missing.size > 0; at--)
		for (const { toolCallId } of callsOf(messages.at(at) as Message))
			if (missing.delete(toolCallId)) start = at;
	return start;
}

/**
 * Returns the messages after a message without the results of these calls. A call that is repeated later keeps its own
 * result.
 */
function withoutResults(messages: readonly Message[], removed: Set<string>): readonly Message[] {
	return messages.flatMap((message) => {
		for (const { toolCallId } of callsOf(message)) removed.delete(toolCallId);
		if (removed.size === 0 || message.type !== "tool_result") return [message];
		return only(message, (id) => !removed.has(id)) ?? [];
	});
}

/**
 * Returns the messages before a message of results without these calls. If a call has several results, only the last
 * one is removed.
 */
function withoutCalls(messages: readonly Message[], removed: Set<string>): readonly Message[] {
	return messages
		.toReversed()
		.flatMap((message) => {
			const calls = callsOf(message).filter(({ toolCallId }) => removed.has(toolCallId));
			if (calls.length === 0) return [message];
			const kept = only(message, (id) => !removed.has(id)) ?? [];
			for (const { toolCallId } of calls) removed.delete(toolCallId);
			return kept;
		})
		.reverse();
}

/** Reduces a message to the kept calls or results; undefined if nothing is left of it. */
function only(message: Message, isKept: (id: string) => boolean): Message | undefined {
	const { id, timestamp, metadata } = message;
	const options = { id, timestamp, ...(metadata === undefined ? {} : { metadata }) };
	if (message.type === "tool_result") {
		const { results } = message as ToolResultMessage;
		const kept = results.filter(({ toolCallId }) => isKept(toolCallId));
		if (kept.length === results.length) return message;
		return kept.length === 0 ? undefined : new ToolResultMessage(kept, options);
	}
	const calls = callsOf(message);
	const kept = calls.filter(({ toolCallId }) => isKept(toolCallId));
	if (kept.length === calls.length) return message;
	const { content } = message as AssistantMessage;
	if (kept.length === 0 && !content.some(({ type }) => type !== "reasoning")) return undefined;
	return new AssistantMessage(content, kept.length === 0 ? undefined : kept, options);
}

function callsOf(message: Message): NonNullable<AssistantMessage["toolCalls"]> {
	return message.type === "assistant" ? ((message as AssistantMessage).toolCalls ?? []) : [];
}

function idsOf(message: Message): ReadonlySet<string> {
	const parts = message.type === "tool_result" ? (message as ToolResultMessage).results : callsOf(message);
	return new Set(parts.map(({ toolCallId }) => toolCallId));
}

/** Returns the state without a message and everything after it; unchanged if the message does not exist. */
export function cutHistory(state: SessionState, messageId: string): SessionState {
	const before = (list: List<Message>): List<Message> => list.until(positionOf(list, messageId));
	const parts = AgentState.partsOf(state.agent);
	const messages = before(parts.messages);
	const context = state.context === parts.messages ? messages : before(state.context);
	const { run } = state;
	const firstMessage = Math.min(run?.firstMessage ?? 0, messages.length);
	return {
		...state,
		agent: AgentState.ofParts({ ...parts, messages }),
		context,
		sent: changedFrom(state.sent, context.length, "edited"),
		run: run && { ...run, firstMessage },
	};
}
