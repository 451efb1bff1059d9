// The port of files: bytes stored with a session under an owner and a name, streamed in and out in pieces, so that a file
// of any size passes through bounded memory. Implementations: memory-files.ts and sqlite/sqlite-files.ts; `hostContract`
// of @holdfast/testing keeps them equal.
import { HoldfastError, HoldfastTypeError } from "@holdfast/upp";
import type { MaybePromise } from "./journal.ts";

/** A file's name, size and time. */
export interface FileInfo {
	/** Unique among the files of its session and owner. */
	readonly name: string;
	/** In bytes. */
	readonly size: number;
	/** Time of the write, in milliseconds since the epoch. */
	readonly at: number;
}

/** Selects the bytes of a file to read. */
export interface ByteRange {
	/** Offset of the first byte. Default 0. */
	readonly start?: number;
	/** Offset after the last byte. Default: the end of the file. */
	readonly end?: number;
}

/** The source of a file: its bytes in chunks of any size, consumed as fast as they are stored. */
export type FileSource = AsyncIterable<Uint8Array> | Iterable<Uint8Array>;

/** The files of one owner in one session, by name. */
export interface SessionFiles {
	/**
	 * Writes or replaces a file. Readers see the whole old version until the whole new one is stored. If the source
	 * throws, or a limit is exceeded, the old version remains. Creates the session if needed. Rejects with
	 * `file_too_large`, `disk_full`, and with `lease_lost` if the session was removed during the write.
	 */
	write(name: string, source: FileSource): Promise<FileInfo>;
	/**
	 * Yields the bytes of a file in chunks. Each reader sees a single version. Rejects with `file_not_found`, and with
	 * `file_changed` if that version was removed before its end was read.
	 */
	read(name: string, range?: ByteRange): AsyncIterable<Uint8Array>;
	/** Returns undefined if the file does not exist. */
	stat(name: string): MaybePromise<FileInfo | undefined>;
	/** Returns all files, in the order of their names. */
	list(): MaybePromise<readonly FileInfo[]>;
	/** Deletes a file. Returns whether it existed. */
	delete(name: string): MaybePromise<boolean>;
}

/** Stores the files of all sessions. They are deleted with their session, in one transaction. */
export interface FileStore {
	/** Returns the files of a session that belong to one owner, such as a plugin. Costs nothing until it is used. */
	of(sessionKey: string, owner: string): SessionFiles;
}

/** Limits on file sizes. */
export interface FileLimits {
	/** Maximum bytes per file. Default: no limit. Larger files reject with `file_too_large`. */
	readonly maxFileBytes?: number;
	/**
	 * Maximum total bytes of all files of one session, of all owners. Default: no limit. A write beyond it rejects with
	 * `file_too_large`.
	 */
	readonly maxSessionBytes?: number;
}

/** The size of a stored piece in bytes. */
export const pieceSize: number = 256 * 1024;

/**
 * Splits a source into pieces of the stored size; the last one may be shorter. A piece is valid only until the one after
 * the next is requested: copy it to keep it.
 */
export async function* piecesOf(source: FileSource): AsyncGenerator<Uint8Array, void, void> {
	let [piece, other] = [new Uint8Array(pieceSize), new Uint8Array(pieceSize)];
	let filled = 0;
	for await (const given of source) {
		if (!(given instanceof Uint8Array))
			throw new HoldfastTypeError("invalid_argument", "A file is written from pieces of type Uint8Array.");
		for (let at = 0; at < given.length; ) {
			const part = given.subarray(at, at + pieceSize - filled);
			piece.set(part, filled);
			filled += part.length;
			at += part.length;
			if (filled < pieceSize) continue;
			yield piece;
			[piece, other] = [other, piece];
			filled = 0;
		}
	}
	if (filled > 0) yield piece.subarray(0, filled);
}

/** Returns a byte range within a file of a given size. @throws RangeError for an invalid range. */
export function rangeIn(
	size: number,
	{ start = 0, end = Number.POSITIVE_INFINITY }: ByteRange,
): { readonly start: number; readonly end: number } {
	if (!(start >= 0) || !(end >= start) || !Number.isInteger(start))
		throw new RangeError(
			"A byte range needs an integer `start` of at least 0, and an `end` that is not before it.",
		);
	const last = Math.min(size, Math.floor(end));
	return { start: Math.min(start, last), end: last };
}

/** Creates the error for a file that does not exist. */
export function fileNotFound(name: string): HoldfastError {
	return new HoldfastError(
		"file_not_found",
		`The file ${JSON.stringify(name)} does not exist. Check its name, owner and session.`,
		{
			data: { name },
		},
	);
}

/** Creates the error for a file that was removed or replaced while it was read. */
export function fileChanged(name: string): HoldfastError {
	return new HoldfastError(
		"file_changed",
		`The file ${JSON.stringify(name)} was removed or replaced while it was read. Read it again from its beginning.`,
		{ data: { name }, retryable: true },
	);
}

/** Creates the error for a file that exceeds a limit. */
export function fileTooLarge(name: string, limit: keyof FileLimits, bytes: number): HoldfastError {
	return new HoldfastError(
		"file_too_large",
		`The file ${JSON.stringify(name)} exceeds \`${limit}\`, which is ${bytes} bytes. None of it was stored; write less, or raise the host's limit.`,
		{ data: { name, limit, bytes } },
	);
}
