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
	/** The id of the session, also of one that the server created. */
	readonly sessionId: string;
	/** How the execution ended. */
	readonly status: ExecuteStatus;
	/** The messages that the execution added, including its input. */
	readonly messages: readonly SessionMessage[];
	/** With status `awaiting_tool_execution`: the calls that are still open, for other clients to answer. */
	readonly pendingToolCalls?: readonly PendingToolCall[];
	/** Waiting calls of background tasks. The session does not wait for them. Absent if no call waits. */
	readonly backgroundToolCalls?: readonly PendingToolCall[];
	/** US dollars; absent if the price of any model call is unknown. */
	readonly cost?: number;
	/** With status `completed`: the output of an agent with the option `output`. */
	readonly output?: Output;
	/**
	 * With status `completed`: why the model stopped its last answer, if not `stop`. `length` means that it was cut off.
	 */
	readonly stopReason?: StopReason;
	/** With status `error`: the error. */
	readonly error?: { readonly code: string; readonly message: string };
}

/** How the last received execution ended. */
export interface Ending {
	readonly status: ExecuteStatus;
	readonly pendingToolCalls: readonly PendingToolCall[];
	readonly backgroundToolCalls?: readonly PendingToolCall[];
	readonly output?: unknown;
	readonly stopReason?: StopReason;
}

/** Collects events. */
export interface Tally {
	add(event: LoggedEvent["event"]): void;
	/** Sets the state if the events do not contain it: from the session itself. */
	end(ending: Ending): void;
	/** The ending of the last execution; undefined while one is in flight. */
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

/** Returns the cost: 0 for a message of no model, undefined if the price is unknown. */
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
