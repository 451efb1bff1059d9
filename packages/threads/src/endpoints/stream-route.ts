// The stream of a thread, as server-sent events and over a WebSocket: the same events in the same order, each with an id
// from which any watcher can resume.
import type { Route, Source, StartSource } from "@holdfast/server";
import { schemas } from "./schemas.ts";
import { requestedThread, statuses, type ThreadRoutesOptions } from "./served-threads.ts";
import { type SentEvent, ThreadFeeds } from "./thread-feed.ts";

const encoder = new TextEncoder();

/** Returns the route. */
export function streamRoute(options: ThreadRoutesOptions): Route {
	const feeds = new ThreadFeeds(options.threads);
	return {
		method: "GET",
		path: "/api/threads/:id/stream",
		name: "streamThread",
		summary:
			"The events of a thread after the last one seen, then live ones; over a WebSocket if the request asks for one. Disconnecting stops nothing.",
		statuses,
		parameters: [
			{
				in: "header",
				name: "Last-Event-ID",
				description: "The id of the last event seen.",
				schema: schemas.text,
			},
			{
				in: "query",
				name: "after",
				description: "The same, for clients that cannot send the header.",
				schema: schemas.text,
			},
		],
		answers: { 200: { description: "Events.", content: { "text/event-stream": { type: "string" } } } },
		errors: ["invalid_event_id", "events_expired", "rate_limited"],
		async handle(exchange) {
			const { record } = await requestedThread(options, exchange);
			const isSocket = exchange.wantsWebSocket;
			const start = await started(
				feeds,
				record.id,
				exchange.lastEventId(),
				isSocket ? messagesOf : recordsOf,
			);
			return isSocket ? exchange.webSocket(record.id, start) : exchange.stream(record.id, start);
		},
	};
}

/**
 * Starts watching, once the requested position is known to exist. @throws HoldfastError `invalid_event_id`,
 * `events_expired`.
 */
async function started(
	feeds: ThreadFeeds,
	threadId: string,
	after: string | undefined,
	written: (sent: readonly SentEvent[]) => readonly Uint8Array[],
): Promise<StartSource> {
	const left = new AbortController();
	const batches = feeds.watch(threadId, after, left.signal)[Symbol.asyncIterator]();
	let first: Promise<IteratorResult<readonly SentEvent[], void>> | undefined = batches.next();
	// An invalid id is refused before anything is sent.
	await first;
	return (wake, fail): Source => {
		let pieces: readonly Uint8Array[] = [];
		let next = 0;
		let isReading = false;
		let isOver = false;
		const read = (): void => {
			if (isReading || isOver) return;
			isReading = true;
			const reading = first ?? batches.next();
			first = undefined;
			reading.then(
				({ done, value }) => {
					isReading = false;
					isOver = done === true;
					pieces = value === undefined ? [] : written(value);
					next = 0;
					wake();
				},
				() => {
					isOver = true;
					fail("failed");
				},
			);
		};
		return {
			take() {
				const piece = pieces[next];
				if (piece !== undefined) {
					next++;
					return piece;
				}
				if (isOver) return "end";
				read();
				return "none";
			},
			close() {
				isOver = true;
				left.abort();
				void batches.return().catch(() => {});
			},
		};
	};
}

function jsonOf({ id, event }: SentEvent): string {
	return JSON.stringify(id === undefined ? event : { id, ...event });
}

/** One piece for all: JSON never contains a raw line break, so each record is two lines. */
function recordsOf(sent: readonly SentEvent[]): readonly Uint8Array[] {
	const text = sent.map(
		(each) => `${each.id === undefined ? "" : `id: ${each.id}\n`}data: ${jsonOf(each)}\n\n`,
	);
	return text.length === 0 ? [] : [encoder.encode(text.join(""))];
}

function messagesOf(sent: readonly SentEvent[]): readonly Uint8Array[] {
	return sent.map((each) => encoder.encode(jsonOf(each)));
}
