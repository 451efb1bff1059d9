// A stream of events with one writer and one reader, written by hand so that a delta costs one push and one shift. Unread
// events are kept, and adjacent deltas are joined beyond a limit, so the buffer never outgrows the answer (keeps I7). The
// result settles even if the events are not read.

import type { StreamEvent } from "./stream-event.ts";

// If this many events wait, adjacent deltas of the same kind are joined.
const joinAbove = 1024;

type Waiting = PromiseWithResolvers<IteratorResult<StreamEvent, undefined>>;

/** Events as they arrive, and a result at the end. The work starts immediately. */
export class EventStream<Result> implements AsyncIterableIterator<StreamEvent, undefined> {
	/** The result of the work. Rejects if the work throws. */
	readonly result: Promise<Result>;
	/** Whether any event was pushed. */
	started = false;
	#buffer: StreamEvent[] = [];
	#head = 0;
	/** The read that waits for the next event, and later ones. */
	#waiting: Waiting | undefined;
	#waitingToo: Waiting[] | undefined;
	#left = false;
	#ended = false;
	#failure: { error: unknown } | undefined;

	/** Starts `work`, which pushes events and returns the result. */
	constructor(work: (stream: EventStream<Result>) => Promise<Result>) {
		this.result = started(work, this);
		// A caller that only iterates gets the failure there; this handler prevents an unhandled rejection here.
		this.result.then(
			() => this.#end(),
			(error) => this.#fail(error),
		);
	}

	/** The result under the name used by model streams. */
	get response(): Promise<Result> {
		return this.result;
	}

	/** Passes an event to the reader. */
	push(event: StreamEvent): void {
		this.started = true;
		if (this.#left || this.#ended) return;
		if (this.#waiting !== undefined) {
			this.#takeWaiting(this.#waiting).resolve({ done: false, value: event });
			return;
		}
		const buffer = this.#buffer;
		if (buffer.length - this.#head >= joinAbove) {
			const last = buffer[buffer.length - 1] as StreamEvent;
			if (last.type === event.type && last.index === event.index) {
				const joined = join(last, event);
				if (joined !== undefined) {
					buffer[buffer.length - 1] = joined;
					return;
				}
			}
		}
		buffer.push(event);
	}

	/** Waits for the next event. Rejects once with the error if the work throws. */
	next(): Promise<IteratorResult<StreamEvent, undefined>> {
		if (this.#head < this.#buffer.length) {
			return Promise.resolve({ done: false, value: this.#shift() });
		}
		if (this.#failure !== undefined) {
			const { error } = this.#failure;
			this.#failure = undefined;
			return Promise.reject(error);
		}
		if (this.#ended || this.#left) return Promise.resolve({ done: true, value: undefined });
		const waiting: Waiting = Promise.withResolvers();
		if (this.#waiting === undefined) this.#waiting = waiting;
		else {
			this.#waitingToo ??= [];
			this.#waitingToo.push(waiting);
		}
		return waiting.promise;
	}

	/** Stops reading: the work continues, but its events are no longer kept. */
	return(): Promise<IteratorResult<StreamEvent, undefined>> {
		this.#left = true;
		this.#failure = undefined;
		this.#buffer = [];
		this.#head = 0;
		this.#endWaiting();
		return Promise.resolve({ done: true, value: undefined });
	}

	[Symbol.asyncIterator](): this {
		return this;
	}

	#shift(): StreamEvent {
		const event = this.#buffer[this.#head] as StreamEvent;
		this.#head++;
		// The remaining events are moved only when half the array is consumed, so that shifting takes amortised constant
		// time.
		if (this.#head === this.#buffer.length) {
			// If an array is emptied by popping, it keeps its capacity for the next event.
			if (this.#head === 1) this.#buffer.pop();
			else this.#buffer.length = 0;
			this.#head = 0;
		} else if (this.#head > joinAbove) {
			this.#buffer.splice(0, this.#head);
			this.#head = 0;
		}
		return event;
	}

	#end(): void {
		this.#ended = true;
		this.#endWaiting();
	}

	#fail(error: unknown): void {
		if (!this.#left) {
			if (this.#waiting === undefined) this.#failure = { error };
			else this.#takeWaiting(this.#waiting).reject(error);
		}
		this.#end();
	}

	#takeWaiting(waiting: Waiting): Waiting {
		this.#waiting = this.#waitingToo?.shift();
		return waiting;
	}

	#endWaiting(): void {
		while (this.#waiting !== undefined)
			this.#takeWaiting(this.#waiting).resolve({ done: true, value: undefined });
	}
}

function started<Result>(
	work: (stream: EventStream<Result>) => Promise<Result>,
	stream: EventStream<Result>,
): Promise<Result> {
	try {
		return Promise.resolve(work(stream));
	} catch (error) {
		return Promise.reject(error);
	}
}

function join(first: StreamEvent, second: StreamEvent): StreamEvent | undefined {
	const a = first.delta;
	const b = second.delta;
	if (a.toolCallId !== b.toolCallId || a.data !== undefined || b.data !== undefined) return undefined;
	if (a.text !== undefined && b.text !== undefined) {
		return { ...first, delta: { ...a, text: a.text + b.text } };
	}
	if (a.argumentsJson !== undefined && b.argumentsJson !== undefined) {
		return { ...first, delta: { ...a, argumentsJson: a.argumentsJson + b.argumentsJson } };
	}
	return undefined;
}
