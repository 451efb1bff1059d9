// A stream of server-sent events to one reader. It takes a piece from its source only when the reader wants one, so a
// slow reader costs no memory here (keeps I7). Silent streams send heartbeats; a reader that takes nothing for long is
// disconnected. Closing a stream only ends the watching (keeps I8: only a stop cancels).
import type { StreamEnd, StreamTable } from "./stream-table.ts";

/** The source of a stream's pieces. */
export interface Source {
	/**
	 * Returns the next piece; "end" after the last one; "none" if none is ready yet, in which case `wake` is called
	 * later.
	 */
	take(): Uint8Array | "end" | "none";
	/** Whether its reader lags by more than the buffer keeps. Default: it does not. */
	readonly isLagging?: boolean;
	/** Whether the last execution it sent has failed. Default: it has not. */
	readonly hasFailed?: boolean;
	/** Releases the watched source. */
	close(): void;
}

/** Starts a source. It calls `wake` when there is output, and `fail` when its reader must be disconnected. */
export type StartSource = (wake: () => void, fail: (reason: StreamEnd) => void) => Source;

/** The destination of the pieces: the reader's side of a stream. */
export interface Sink {
	/** Sends a piece; returns whether the reader wants another one now. If not, it calls `ready` when it does. */
	write(piece: Uint8Array): boolean;
	/** Ends after the data that was sent. */
	end(): void;
	/** Disconnects, and discards unsent data. */
	cut(): void;
}

/** The parts of a stream. */
export interface EventStreamOptions {
	/** Starts the source of the stream. */
	readonly start: StartSource;
	/** The table that contains the stream while it is open. */
	readonly table: StreamTable;
	/** Called once when the stream has ended, with the reason and the bytes that were sent. */
	readonly ended: (end: StreamEnd, bytes: number) => void;
	/** Whether the reader receives each piece whole, however large. Default `false`. */
	readonly isWhole?: boolean;
}

/** Bytes passed to a reader at a time: when the reader takes them, it is alive. */
const slice = 64 * 1024;

/** An open stream. */
export class EventStream {
	readonly #table: StreamTable;
	readonly #ended: EventStreamOptions["ended"];
	readonly #sink: Sink;
	readonly #isWhole: boolean;
	#source: Source | undefined;
	#isWanted = false;
	/** The part of a large piece that has not been passed to the reader yet. */
	#rest: Uint8Array | undefined;
	#isOpen = true;
	#bytes = 0;
	#lastMove: number;

	/** Opens a stream to a reader, which receives nothing before `ready` is called. */
	constructor({ start, table, ended, isWhole = false }: EventStreamOptions, sink: Sink) {
		this.#isWhole = isWhole;
		this.#table = table;
		this.#ended = ended;
		this.#sink = sink;
		this.#lastMove = table.now();
		table.add(this);
		this.#source = start(
			() => this.#move(),
			(reason) => this.end(reason),
		);
	}

	/** Unread bytes of a piece that the reader has started. */
	get waiting(): number {
		return this.#rest?.byteLength ?? 0;
	}

	/** The reader wants the next piece. */
	ready(): void {
		this.#isWanted = true;
		this.#lastMove = this.#table.now();
		this.#move();
	}

	/** The reader has disconnected. */
	left(): void {
		this.#finish("left");
	}

	/** Sends a heartbeat to a silent reader, or disconnects one that has stopped reading. */
	beat(now: number): void {
		const silence = now - this.#lastMove;
		if (this.#isWanted) {
			if (silence >= this.#table.silenceMs) this.#send(this.#table.heartbeat);
		} else {
			const { stalledMs, stalledLaggingMs, maxBufferedBytes, isFull } = this.#table;
			const isLagging = this.#source?.isLagging === true || (isFull && this.waiting > maxBufferedBytes);
			if (silence >= (isLagging ? stalledLaggingMs : stalledMs)) this.end("slow");
		}
	}

	/** Ends the stream on the server's side. */
	end(reason: StreamEnd): void {
		const rest = this.#rest;
		if (!this.#finish(reason)) return;
		if (reason !== "complete" && reason !== "error" && reason !== "closed") this.#sink.cut();
		else {
			if (rest !== undefined) this.#sink.write(rest);
			this.#sink.end();
		}
	}

	#move(): void {
		while (this.#isOpen && this.#isWanted && this.#source !== undefined) {
			const piece = this.#rest ?? this.#source.take();
			if (piece === "none") return;
			if (piece === "end") this.end(this.#source.hasFailed === true ? "error" : "complete");
			else this.#send(piece);
		}
	}

	#send(piece: Uint8Array): void {
		const part = !this.#isWhole && piece.byteLength > 2 * slice ? piece.subarray(0, slice) : piece;
		this.#rest = part === piece ? undefined : piece.subarray(slice);
		this.#isWanted = false;
		this.#bytes += part.byteLength;
		this.#lastMove = this.#table.now();
		if (this.#sink.write(part)) this.#isWanted = true;
	}

	#finish(reason: StreamEnd): boolean {
		if (!this.#isOpen) return false;
		this.#isOpen = false;
		this.#table.remove(this);
		this.#source?.close();
		this.#source = undefined;
		this.#rest = undefined;
		this.#ended(reason, this.#bytes);
		return true;
	}
}

/** Returns a stream as a response body, for any platform. */
export function bodyOf(options: EventStreamOptions): ReadableStream<Uint8Array> {
	let stream: EventStream;
	return new ReadableStream<Uint8Array>(
		{
			start(controller) {
				stream = new EventStream(options, {
					write(piece) {
						controller.enqueue(piece);
						return false;
					},
					end: () => controller.close(),
					cut: () => controller.error(new Error("The server disconnected this reader.")),
				});
			},
			pull: () => stream.ready(),
			cancel: () => stream.left(),
		},
		// Nothing is buffered ahead of the reader: unread data stays in the source.
		{ highWaterMark: 0 },
	);
}
