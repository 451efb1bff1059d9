// The open streams, and the one timer that sends their heartbeats.
import { heartbeat } from "./record.ts";

/** The number of heartbeat intervals after which an inactive reader is disconnected. */
const patience = 4;
/** The same in milliseconds for a reader that lags far behind. */
const laggingPatience = 5_000;
/** The limit for all readers together, as a multiple of the limit for one reader. */
const manyReaders = 64;

/**
 * Why a stream ended: its source ended and the execution had not failed (`complete`) or had (`error`); the reader left or
 * was too slow; the server closed; or the source failed.
 */
export type StreamEnd = "complete" | "error" | "left" | "slow" | "closed" | "failed";

/** A stream as the table sees it. */
export interface OpenStream {
	/** Bytes of a started piece that the reader has not taken. */
	readonly waiting: number;
	/** Checks the stream: sends a heartbeat, or disconnects its reader. */
	beat(now: number): void;
	end(reason: StreamEnd): void;
}

/** The open streams of a handler. */
export class StreamTable {
	/** The bytes of a heartbeat. */
	readonly heartbeat: Uint8Array = heartbeat;
	/**
	 * Milliseconds of silence after which a heartbeat is due at the next check, so that no silence is longer than
	 * configured.
	 */
	readonly silenceMs: number;
	/** Milliseconds after which a reader that takes nothing is disconnected. */
	readonly stalledMs: number;
	/** The same for a reader that lags by more than the buffer keeps: it has stopped reading. */
	readonly stalledLaggingMs: number;
	/** Bytes that may wait for a reader before it counts as lagging, if many readers have data waiting. */
	readonly maxBufferedBytes: number;
	/** Whether so much data waits for all readers together that stalled ones are disconnected early. */
	isFull = false;
	/** Returns milliseconds that never decrease. */
	readonly now: () => number = () => performance.now();
	readonly #open = new Set<OpenStream>();
	readonly #lookMs: number;
	#timer: ReturnType<typeof setInterval> | undefined;
	#emptied: () => void = () => {};

	/** Creates an empty table. */
	constructor(heartbeatMs: number, maxBufferedBytes: number) {
		this.maxBufferedBytes = maxBufferedBytes;
		this.#lookMs = Math.max(1, Math.min(heartbeatMs / 8, 1_000));
		this.silenceMs = heartbeatMs - this.#lookMs;
		this.stalledMs = heartbeatMs * patience;
		this.stalledLaggingMs = Math.min(this.stalledMs, laggingPatience);
	}

	/** The number of open streams. */
	get size(): number {
		return this.#open.size;
	}

	/** Adds an open stream. */
	add(stream: OpenStream): void {
		this.#open.add(stream);
		this.#timer ??= unheld(setInterval(() => this.look(), this.#lookMs));
	}

	/** Removes a stream that has ended. */
	remove(stream: OpenStream): void {
		this.#open.delete(stream);
		if (this.#open.size > 0) return;
		clearInterval(this.#timer);
		this.#timer = undefined;
		this.#emptied();
	}

	/** Resolves when no stream is open, or after some milliseconds. */
	async whenEmpty(patienceMs: number): Promise<void> {
		if (this.#open.size === 0 || patienceMs === 0) return;
		let timer: ReturnType<typeof setTimeout> | undefined;
		await new Promise<void>((resolve) => {
			this.#emptied = resolve;
			timer = setTimeout(resolve, patienceMs);
		});
		clearTimeout(timer);
	}

	/** Ends all streams. */
	end(reason: StreamEnd): void {
		for (const stream of [...this.#open]) stream.end(reason);
	}

	/** Checks all streams: sends silent ones a heartbeat, and disconnects readers that have stopped. */
	look(): void {
		const now = this.now();
		let waiting = 0;
		for (const stream of this.#open) waiting += stream.waiting;
		this.isFull = waiting > manyReaders * this.maxBufferedBytes;
		for (const stream of [...this.#open]) stream.beat(now);
	}
}

/** Returns a timer that does not keep the process alive. */
export function unheld<Timer>(timer: Timer): Timer {
	(timer as { unref?: () => void }).unref?.();
	return timer;
}
