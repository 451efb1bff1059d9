// What became of a run, read from the log of its session: the same for every process, at any time.
import type { ServedCaller, SessionService } from "@holdfast/server";
import type { PendingSessionCall } from "holdfast";

type Logged = SessionService extends {
	follow(...parameters: never[]): AsyncIterable<readonly (infer Event)[]>;
}
	? Event extends { readonly event: infer Each }
		? Each
		: never
	: never;

/** How it stands with a run. `input_required`: it waits for answers to its `pending` calls. */
export interface RunView {
	readonly status: "working" | "input_required" | "completed" | "failed" | "cancelled";
	/** What the agent said last. */
	readonly text: string;
	/** The checked answer of an agent with the option `output`. */
	readonly output?: unknown;
	readonly error?: { readonly code: string; readonly message: string };
	readonly pending?: readonly PendingSessionCall[];
	/** Milliseconds since the epoch when something of it was committed last. */
	readonly updatedAt?: number;
}

/** How a run is read. */
export interface ReadRun {
	readonly caller: ServedCaller;
	readonly sessionId: string;
	/** Events after this id are those of the run. */
	readonly after: string;
	/** `now`: as it is. `rest`: when it is over or waits for somebody, and not before. */
	readonly until: "now" | "rest";
	readonly signal?: AbortSignal;
	/** Called with each event of the run. */
	readonly onEvent?: (event: Logged) => void;
}

/** Rejects with `session_not_found`, `invalid_event_id`, `events_expired`, and with the signal's reason. */
export async function readRun(
	service: SessionService,
	{ caller, sessionId, after, until, signal, onEvent }: ReadRun,
): Promise<RunView> {
	let text = "";
	let updatedAt: number | undefined;
	let waiting: readonly PendingSessionCall[] | undefined;
	let isLive = false;
	const at = () => (updatedAt === undefined ? {} : { updatedAt });
	const options = { after, until: "never" as const, ...(signal === undefined ? {} : { signal }) };
	for await (const batch of service.follow(caller, sessionId, options)) {
		for (const { event } of batch) {
			onEvent?.(event);
			if (event.type === "session_start") waiting = undefined; // it was answered, and continues
			if (event.type === "message_end") {
				const { message } = event;
				if (message.timestamp !== undefined) updatedAt = message.timestamp;
				if (message.role === "assistant")
					text = message.content.map((part) => (part.type === "text" ? part.text : "")).join("");
			}
			if (event.type !== "execute_complete") continue;
			const { status, pendingToolCalls, error, output } = event;
			if (status === "awaiting_tool_execution") waiting = pendingToolCalls ?? [];
			else
				return {
					status: status === "completed" ? "completed" : status === "aborted" ? "cancelled" : "failed",
					text,
					...(output === undefined ? {} : { output }),
					...(error === undefined ? {} : { error }),
					...at(),
				};
		}
		isLive ||= batch.length === 0;
		if (isLive && waiting !== undefined) return { status: "input_required", text, pending: waiting, ...at() };
		if (isLive && until === "now") return { status: "working", text, ...at() };
	}
	signal?.throwIfAborted();
	return { status: "working", text, ...at() };
}
