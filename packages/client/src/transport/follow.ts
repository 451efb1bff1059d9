// Follows events across reconnects. Each event is passed on once, in order: a connection always resumes after the last
// event that was passed on, and a record cut off in the middle counts as not received.

import { createBackoff } from "./backoff.ts";
import { lost } from "./idle-time.ts";
import type { Settings } from "./options.ts";
import type { ReceivedEvent } from "./read-events.ts";
import {
	type EventConnection,
	type EventRange,
	type ExecuteBody,
	eventsCall,
	executeCall,
	getSession,
	openEvents,
} from "./routes.ts";

/** State shared between a follower and its reader. */
export interface Following {
	readonly settings: Settings;
	readonly signal?: AbortSignal | undefined;
	/** Called for each connection as it opens. */
	onConnection?(connection: EventConnection): void;
}

/** The action at the end of a connection: `done`, or reconnect. */
type AfterEnd = (last: ReceivedEvent | undefined, delivered: number) => Promise<"done" | "again">;

/** Yields the events of one execution, up to its `execute_complete`. */
export async function* followExecution(
	following: Following,
	body: ExecuteBody,
	idempotencyKey: string,
): AsyncGenerator<ReceivedEvent, void, undefined> {
	const start = executeCall(body, idempotencyKey);
	let { sessionId } = body;
	// Before the first event, the start of the execution is unknown; repeating the POST joins it there.
	const next = (last: ReceivedEvent | undefined) =>
		last === undefined || sessionId === undefined
			? start
			: eventsCall(sessionId, { after: last.id, follow: false });
	for await (const received of followConnections(following, next, async () => "again")) {
		if (received.event.type === "session_start") sessionId = received.event.sessionId;
		yield received;
		if (received.event.type === "execute_complete") return;
	}
}

/** Yields the events of a session after `after`: up to the end of its last execution, or indefinitely with `follow`. */
export async function* followSession(
	following: Following,
	sessionId: string,
	{ after, follow }: EventRange,
): AsyncGenerator<ReceivedEvent, void, undefined> {
	/** Consecutive ends without stored events; two in a row mean that no events exist. */
	let emptyEnds = 0;
	const afterEnd: AfterEnd = async (last, delivered) => {
		if (follow) return "again";
		if (delivered > 0) return last?.event.type === "execute_complete" ? "done" : "again";
		// No event arrived: either no events exist, or the stream was cut off.
		const { status, lastEventId } = await getSession(following.settings, sessionId, following.signal);
		if (status === "running") return "again";
		const place = last?.id ?? after;
		if (place === undefined) emptyEnds += 1;
		return lastEventId === place || emptyEnds > 1 ? "done" : "again";
	};
	const next = (last: ReceivedEvent | undefined) =>
		eventsCall(sessionId, { after: last?.id ?? after, follow });
	yield* followConnections(following, next, afterEnd);
}

async function* followConnections(
	following: Following,
	next: (last: ReceivedEvent | undefined) => ReturnType<typeof eventsCall>,
	afterEnd: AfterEnd,
): AsyncGenerator<ReceivedEvent, void, undefined> {
	const { settings, signal } = following;
	const { timers, maxReconnectDelayMs } = settings;
	const backoff = createBackoff(settings, signal);
	let last: ReceivedEvent | undefined;
	for (;;) {
		let openedAt = Number.POSITIVE_INFINITY;
		let failure: unknown;
		try {
			const connection = await openEvents(settings, next(last), signal);
			openedAt = timers.now();
			following.onConnection?.(connection);
			let delivered = 0;
			try {
				for await (const received of connection.events) {
					last = received;
					delivered += 1;
					backoff.reset();
					yield received;
				}
			} finally {
				connection.close();
			}
			if ((await afterEnd(last, delivered)) === "done") return;
			failure = lost("ended too early");
		} catch (error) {
			failure = error;
		}
		// A quiet session sends only heartbeats: a connection that lasted this long was a good one.
		if (timers.now() - openedAt >= maxReconnectDelayMs) backoff.reset();
		await backoff.afterFailure(failure);
	}
}
