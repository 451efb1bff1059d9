// The state of a run, read from the log of its session: the same for every process, at any time (keeps I2). For
// interfaces with calls and tasks instead of sessions.
import type { LoggedEvent, PendingSessionCall, SessionWait } from "holdfast/execute";
import type { SessionOwner } from "./served-key.ts";
import type { SessionService } from "./service-types.ts";

/** The state of a run. `input_required`: it waits for answers to its `pending` calls. */
export interface RunView {
	/** The state of the run. */
	readonly status: "working" | "input_required" | "completed" | "failed" | "cancelled";
	/** The text of the agent's last message. */
	readonly text: string;
	/** The validated answer of an agent with the option `output`. */
	readonly output?: unknown;
	/** Why it failed, in a message that clients may read. */
	readonly error?: { readonly code: string; readonly message: string };
	/** The calls that it waits for; absent with any other status. */
	readonly pending?: readonly PendingSessionCall[];
	/** Calls of background tasks that have started to wait since. The run does not wait for them. */
	readonly background?: readonly PendingSessionCall[];
	/** The reason why a `working` run waits. It continues by itself. */
	readonly waiting?: SessionWait;
	/** Milliseconds since the epoch of the last message. */
	readonly updatedAt?: number;
}

/** Which run to follow, and whose. */
export interface FollowRun {
	/** The owner of the session; a string is the tenant. */
	readonly owner: string | SessionOwner;
	readonly sessionId: string;
	/** The run's events come after this id: `after` from `submit` or from `begun`. */
	readonly after: string;
	/** Ends the reading. Default: it ends with the run. */
	readonly signal?: AbortSignal;
}

/** The next events of a run, and its state after them. */
export interface RunProgress {
	/** The next events, in order. */
	readonly events: readonly LoggedEvent[];
	/** The state after them. */
	readonly view: RunView;
	/** Whether these events are live: all earlier ones have been delivered. */
	readonly isLive: boolean;
}

/**
 * Follows a run until it has ended, or waits for answers that have not arrived. The signal ends it early.
 *
 * Rejects with `session_not_found`, `invalid_event_id`, `events_expired`.
 */
export async function* followRun(
	service: Pick<SessionService, "follow">,
	{ owner, sessionId, after, signal }: FollowRun,
): AsyncGenerator<RunProgress, void, void> {
	let view: RunView = { status: "working", text: "" };
	let isLive = false;
	const options = { after, until: "never" as const, ...(signal === undefined ? {} : { signal }) };
	for await (const batch of service.follow(owner, sessionId, options)) {
		isLive ||= batch.length === 0;
		const events: LoggedEvent[] = [];
		for (const logged of batch) {
			events.push(logged);
			view = viewAfter(view, logged.event);
			if (isOver(view)) break;
		}
		yield { events, view, isLive };
		if (isOver(view) || (isLive && view.status === "input_required")) return;
	}
}

/**
 * Reads a run: its state `now`, or at `rest`, once it has ended or waits for answers.
 *
 * Rejects like `followRun`, and with the signal's reason.
 */
export async function readRun(
	service: Pick<SessionService, "follow">,
	run: FollowRun,
	until: "now" | "rest",
	onEvent?: (event: LoggedEvent["event"]) => void,
): Promise<RunView> {
	let view: RunView = { status: "working", text: "" };
	for await (const progress of followRun(service, run)) {
		({ view } = progress);
		if (onEvent !== undefined) for (const { event } of progress.events) onEvent(event);
		if (until === "now" && progress.isLive) return view;
	}
	run.signal?.throwIfAborted();
	return view;
}

function isOver({ status }: RunView): boolean {
	return status !== "working" && status !== "input_required";
}

function viewAfter(view: RunView, event: LoggedEvent["event"]): RunView {
	switch (event.type) {
		case "session_start":
		case "resumed": {
			// Its wait has ended, and it continues.
			const { pending: _, waiting: __, background: ___, ...rest } = view;
			return { ...rest, status: "working" };
		}
		case "waiting": {
			const { type: _, sessionId: __, ...waiting } = event;
			return { ...view, waiting };
		}
		case "message_end": {
			const { message } = event;
			const at = message.timestamp === undefined ? {} : { updatedAt: message.timestamp };
			if (message.role !== "assistant") return { ...view, ...at };
			const text = message.content.map((part) => (part.type === "text" ? part.text : "")).join("");
			return { ...view, ...at, text };
		}
		case "execute_complete": {
			const { status, pendingToolCalls: pending = [], error, output, backgroundToolCalls } = event;
			const background = backgroundToolCalls === undefined ? {} : { background: backgroundToolCalls };
			if (status === "awaiting_tool_execution") {
				const { waiting: _, ...rest } = view;
				return { ...rest, status: "input_required", pending, ...background };
			}
			return {
				...view,
				...background,
				status: status === "completed" ? "completed" : status === "aborted" ? "cancelled" : "failed",
				...(output === undefined ? {} : { output }),
				...(error === undefined ? {} : { error }),
			};
		}
		case "session_end":
		case "awaiting_tool_execution":
		case "tools_pending":
		case "history_cut":
		case "message_start":
		case "text_start":
		case "text_delta":
		case "text_end":
		case "thinking_start":
		case "thinking_delta":
		case "thinking_end":
		case "toolcall_start":
		case "toolcall_delta":
		case "toolcall_end":
		case "tool_execution_start":
		case "tool_execution_delta":
		case "tool_execution_end":
		case "error":
			return view;
		default:
			event satisfies never;
			return view;
	}
}
