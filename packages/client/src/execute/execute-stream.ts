// The two ends of an execution: the loop over its events, and its result. Events are read when either asks, so a slow
// loop slows down the connection. If `result()` asks and the loop does not, the loop's events are kept up to a limit.
// The loop reads later events from the server again, so neither waits for the other (keeps I7, I8).

import { ClientError } from "../errors/index.ts";
import type { ReceivedEvent } from "../transport/index.ts";
import type { ExecuteComplete, ExecuteEvent, ToolTypes } from "../wire/index.ts";
import type { ExecuteResult } from "./tally.ts";

/** A running execution. Leaving the loop, or aborting `signal`, disconnects; the session continues on the server. */
export interface ExecuteStream<Output = unknown, Tools = ToolTypes>
	extends AsyncIterable<ExecuteEvent<Tools> | ExecuteComplete> {
	/**
	 * Its events, each once, in order; `execute_complete` ends each round of tool calls. For one consumer.
	 *
	 * @throws ClientError `events_already_consumed` if you iterate a second time.
	 */
	[Symbol.asyncIterator](): AsyncIterator<ExecuteEvent<Tools> | ExecuteComplete, void, undefined>;
	/**
	 * Returns the outcome, even if the events are not read. A failure of the agent is a result with status `error`; the
	 * promise rejects only if the server cannot be followed.
	 */
	result(): Promise<ExecuteResult<Output>>;
	/** The id of the session, as soon as the server has sent it. */
	readonly sessionId: Promise<string>;
	/** The id of the last received event, to continue elsewhere with `watch`. */
	readonly lastEventId: string | undefined;
}

/** The source of a stream's events. */
export interface StreamSource {
	/** All events, in order. Reads more on demand. */
	readonly events: AsyncGenerator<ReceivedEvent, void, undefined>;
	/** Returns the session's events after one that was received. */
	readonly reread: (sessionId: string, after: string) => AsyncGenerator<ReceivedEvent, void, undefined>;
	/** Returns the result, once the events have ended. */
	readonly result: (sessionId: string) => ExecuteResult;
	/** Closes the open connection, if there is one; reading `events` again opens another. */
	readonly disconnect: () => void;
	readonly bufferCharacters: number;
}

type Outcome = { readonly ok: true } | { readonly ok: false; readonly error: unknown };

/** @param open creates the source; call the function it receives with the session's id as soon as it is known. */
export function createExecuteStream(
	open: (name: (sessionId: string | undefined) => void) => StreamSource,
): ExecuteStream {
	let resolveName: (sessionId: string) => void = () => {};
	let rejectName: (error: unknown) => void = () => {};
	const named = new Promise<string>((resolve, reject) => {
		resolveName = resolve;
		rejectName = reject;
	});
	named.catch(() => {});
	/** Events for the loop that arrived before it asked. */
	const kept: ReceivedEvent[] = [];
	let keptCharacters = 0;
	/** Rereads the events that were received and not kept, for the loop. */
	let detour: AsyncGenerator<ReceivedEvent, void, undefined> | undefined;
	let isKeeping = true;
	let readingOn: Promise<void> | undefined;
	let outcome: Outcome | undefined;
	let loop: "none" | "open" | "left" = "none";
	let wanted: Promise<ExecuteResult> | undefined;
	let sessionId: string | undefined;
	let lastReceived: string | undefined;
	let lastToLoop: string | undefined;

	function name(id: string | undefined): void {
		sessionId ??= id;
		if (id !== undefined) resolveName(id);
	}

	function take(received: ReceivedEvent): void {
		lastReceived = received.id;
		if (received.event.type === "session_start") name(received.event.sessionId);
		if (loop === "left" || !isKeeping) return;
		isKeeping = kept.length === 0 || keptCharacters + received.characters <= source.bufferCharacters;
		if (!isKeeping) return;
		kept.push(received);
		keptCharacters += received.characters;
	}

	function settle(how: Outcome): void {
		outcome = how;
		if (how.ok) rejectName(new ClientError("invalid_response", "The server did not name the session."));
		else rejectName(how.error);
	}

	/** Receives one more event, or the end. Concurrent callers share one read. */
	function readOn(): Promise<void> {
		readingOn ??= source.events
			.next()
			.then(
				({ done, value }) => (done === true ? settle({ ok: true }) : take(value)),
				(error) => settle({ ok: false, error }),
			)
			.finally(() => {
				readingOn = undefined;
			});
		return readingOn;
	}

	async function nextForLoop(): Promise<ReceivedEvent | undefined> {
		for (;;) {
			const first = kept.shift();
			if (first !== undefined) {
				keptCharacters -= first.characters;
				return first;
			}
			if (!isKeeping) return nextFromDetour();
			if (outcome?.ok === false) throw outcome.error;
			if (outcome !== undefined || loop === "left") return undefined;
			await readOn();
		}
	}

	async function nextFromDetour(): Promise<ReceivedEvent | undefined> {
		detour ??= source.reread(sessionId ?? "", lastToLoop ?? "");
		const { done, value } = await detour.next();
		if (done === true) return undefined;
		if (value.id === lastReceived) {
			// Caught up: every event received in the meantime has been delivered.
			isKeeping = true;
			await detour.return();
			detour = undefined;
		}
		return value;
	}

	function leave(): void {
		loop = "left";
		kept.length = 0;
		detour?.return().catch(() => {});
		// The pending read ends first: a connection that is still opening cannot be closed.
		void (readingOn ?? Promise.resolve()).then(() => {
			if (wanted === undefined && outcome === undefined) source.disconnect();
		});
	}

	async function drain(): Promise<ExecuteResult> {
		while (outcome === undefined) await readOn();
		if (!outcome.ok) throw outcome.error;
		return source.result(sessionId ?? "");
	}

	const stream: ExecuteStream = {
		sessionId: named,
		get lastEventId() {
			return lastReceived;
		},
		result() {
			wanted ??= drain();
			return wanted;
		},
		[Symbol.asyncIterator]() {
			if (loop !== "none") {
				throw new ClientError(
					"events_already_consumed",
					"The events of this execution already have a consumer. To read them in addition, use `client.watch`.",
				);
			}
			loop = "open";
			return {
				async next() {
					try {
						const received = loop === "left" ? undefined : await nextForLoop();
						if (received === undefined) return { done: true, value: undefined };
						lastToLoop = received.id;
						return { done: false, value: received.event };
					} catch (error) {
						leave();
						throw error;
					}
				},
				async return() {
					leave();
					return { done: true, value: undefined };
				},
			};
		},
	};
	const source = open(name);
	// Sent at once, like any request; events wait until they are read.
	void readOn();
	return stream;
}
