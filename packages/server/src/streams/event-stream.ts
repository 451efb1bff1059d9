// The body of a response of server-sent events. It takes a piece from its source only when the reader asks for one,
// so a reader that is slow costs no memory here (keeps I7). Silent streams get heartbeats; a reader that takes nothing
// for long is disconnected. Closing a stream ends the watching and nothing else (keeps I8: only a stop cancels).
import type { StreamTable } from "./stream-table.ts";

/** Where the pieces of a stream come from. */
export interface Source {
	/** The next piece; "end" behind the last one; "none" when there is none yet, and then `wake` is called later. */
	take(): Uint8Array | "end" | "none";
	/** Lets go of what it watches. */
	close(): void;
}

/** Starts a source. It calls `wake` when there is something to take, and `fail` when its reader must be let go. */
export type StartSource = (wake: () => void, fail: (reason: StreamEnd) => void) => Source;

/** Why a stream ended: its source did, the reader left or was too slow, the server closed, or the source failed. */
export type StreamEnd = "complete" | "left" | "slow" | "closed" | "failed";

/** What a stream is made of. */
export interface EventStreamOptions {
	readonly start: StartSource;
	readonly table: StreamTable;
	/** Cuts the connection, where the platform can; otherwise the body fails. */
	readonly disconnect: (() => void) | undefined;
	readonly ended: (end: StreamEnd, bytes: number) => void;
}

/** A stream that is open. */
export interface OpenStream {
	/** Sends a heartbeat to a silent reader, or lets one go that has stopped reading. */
	beat(now: number): void;
	/** Ends the stream from the server's side. */
	end(reason: StreamEnd): void;
}

/** Opens a stream. */
export function openEventStream({
	start,
	table,
	disconnect,
	ended,
}: EventStreamOptions): ReadableStream<Uint8Array> {
	let controller: ReadableStreamDefaultController<Uint8Array>;
	let source: Source | undefined;
	let wanted = false;
	let isOpen = true;
	let bytes = 0;
	let lastMove = table.now();

	const finish = (reason: StreamEnd): boolean => {
		if (!isOpen) return false;
		isOpen = false;
		table.remove(stream);
		source?.close();
		ended(reason, bytes);
		return true;
	};
	const end = (reason: StreamEnd): void => {
		if (!finish(reason)) return;
		if (reason === "complete" || reason === "closed") controller.close();
		else if (disconnect !== undefined) disconnect();
		else controller.error(new Error(`The stream was cut by the server: ${reason}.`));
	};
	const send = (piece: Uint8Array): void => {
		wanted = false;
		bytes += piece.byteLength;
		lastMove = table.now();
		controller.enqueue(piece);
	};
	const move = (): void => {
		if (!isOpen || !wanted || source === undefined) return;
		const piece = source.take();
		if (piece === "end") end("complete");
		else if (piece !== "none") send(piece);
	};
	const stream: OpenStream = {
		beat(now) {
			if (wanted) {
				if (now - lastMove >= table.silenceMs) send(table.heartbeat);
			} else if (now - lastMove >= table.stalledMs) end("slow");
		},
		end,
	};
	return new ReadableStream<Uint8Array>(
		{
			start(given) {
				controller = given;
				table.add(stream);
				source = start(move, end);
			},
			pull() {
				wanted = true;
				lastMove = table.now();
				move();
			},
			cancel() {
				finish("left");
			},
		},
		// Nothing is kept ahead of the reader: what waits for it waits in the source.
		{ highWaterMark: 0 },
	);
}
