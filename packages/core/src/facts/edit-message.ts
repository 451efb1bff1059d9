// A message of the history replaced or taken out, alone or with all that follows: the one change to what was said (part of
// evolve, keeps I2).
import type { Message } from "@holdfast/upp";
import { AgentState, List } from "../state/index.ts";
import type { SessionState } from "./session-state.ts";

/** The state with a message replaced, or without it. */
export function editMessage(
	state: SessionState,
	seq: number,
	messageId: string,
	replacement: Message | undefined,
): SessionState {
	const change = (list: List<Message>): List<Message> =>
		List.from(
			list
				.toArray()
				.flatMap((message) => (message.id !== messageId ? [message] : replacement ? [replacement] : [])),
		);
	const parts = AgentState.partsOf(state.agent);
	const messages = change(parts.messages);
	const context = state.context === parts.messages ? messages : change(state.context);
	return { ...state, seq, agent: AgentState.ofParts({ ...parts, messages }), context };
}

/** The state without a message and all that follows it; as it is where there is no such message. */
export function cutHistory(state: SessionState, messageId: string): SessionState {
	const before = (list: List<Message>): List<Message> => {
		const at = list.toArray().findLastIndex(({ id }) => id === messageId);
		return at < 0 ? list : list.until(at);
	};
	const parts = AgentState.partsOf(state.agent);
	const messages = before(parts.messages);
	const context = state.context === parts.messages ? messages : before(state.context);
	const { run } = state;
	const firstMessage = Math.min(run?.firstMessage ?? 0, messages.length);
	return {
		...state,
		agent: AgentState.ofParts({ ...parts, messages }),
		context,
		run: run && { ...run, firstMessage },
	};
}
