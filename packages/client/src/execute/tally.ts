// The outcome of an execution, collected from its events.

import type {
	ExecuteStatus,
	LoggedEvent,
	PendingToolCall,
	SessionMessage,
	StopReason,
} from "../wire/index.ts";

/** The outcome of an execution. */
export interface ExecuteResult<Output = unknown> {
	readonly sessionId: string;
	readonly status: ExecuteStatus;
	/** The messages it added, its input included. */
	readonly messages: readonly SessionMessage[];
	/** With status `awaiting_tool_execution`: the calls that are still open, for others to answer. */
	readonly pendingToolCalls?: readonly PendingToolCall[];
	/** Calls of tasks in the background that wait. The session does not wait for them. Present where there are any. */
	readonly backgroundToolCalls?: readonly PendingToolCall[];
	/** US dollars; absent when the price of some model call is unknown. */
	readonly cost?: number;
	/** With status `completed`: what the answer says, of an agent with the option `output`. */
	readonly output?: Output;
	/** With status `completed`: why the model stopped its last answer, where it is not `stop`. `length` is one that was cut off. */
	readonly stopReason?: StopReason;
	/** With status `error`: why. */
	readonly error?: { readonly code: string; readonly message: string };
}

/** How the last execution seen so far ended. */
export interface Ending {
	readonly status: ExecuteStatus;
	readonly pendingToolCalls: readonly PendingToolCall[];
	readonly backgroundToolCalls?: readonly PendingToolCall[];
	readonly output?: unknown;
	readonly stopReason?: StopReason;
}

/** Gathers events. */
export interface Tally {
	add(event: LoggedEvent["event"]): void;
	/** Its state where the events do not say: the session's own answer. */
	end(ending: Ending): void;
	/** The ending of the last execution; undefined while one is under way. */
	ending(): Ending | undefined;
	result(sessionId: string): ExecuteResult;
}

export function createTally(): Tally {
	const messages: SessionMessage[] = [];
	let cost: number | undefined = 0;
	let error: ExecuteResult["error"];
	let ending: Ending | undefined;
	return {
		add(event) {
			switch (event.type) {
				case "session_start":
					ending = undefined;
					break;
				case "message_end": {
					messages.push(event.message);
					const spent = costOf(event.message);
					cost = cost === undefined || spent === undefined ? undefined : cost + spent;
					break;
				}
				case "error":
					error = { code: event.code, message: event.error };
					break;
				case "execute_complete":
					error = event.error ?? error;
					ending = { pendingToolCalls: [], ...event };
					break;
			}
		},
		end(known) {
			ending = known;
		},
		ending: () => ending,
		result(sessionId) {
			const { status, pendingToolCalls, backgroundToolCalls, output, stopReason }: Ending = ending ?? {
				status: "completed",
				pendingToolCalls: [],
			};
			return {
				sessionId,
				status,
				messages,
				...(status === "awaiting_tool_execution" && { pendingToolCalls }),
				...(backgroundToolCalls !== undefined && { backgroundToolCalls }),
				...(cost === undefined ? {} : { cost }),
				...(output !== undefined && { output }),
				...(stopReason !== undefined && { stopReason }),
				...(status === "error" && error !== undefined && { error }),
			};
		},
	};
}

/** 0 for what no model said, undefined where the price is unknown. */
function costOf(message: SessionMessage): number | undefined {
	switch (message.role) {
		case "assistant":
			return message.usage.cost;
		case "error":
		case "aborted":
			return message.partial === undefined ? 0 : message.partial.usage.cost;
		default:
			return 0;
	}
}
