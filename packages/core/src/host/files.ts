// The port of files: bytes stored with a session under an owner and a name, streamed in and out in pieces, so that a file
// of any size passes through bounded memory. Implementations: memory-files.ts and sqlite/sqlite-files.ts; `hostContract`
// of @holdfast/testing keeps them equal.
import { HoldfastError, HoldfastTypeError } from "@holdfast/upp";
import type { MaybePromise } from "./journal.ts";

/** A file at a glance. */
export interface FileInfo {
	readonly name: string;
	/** In bytes. */
	readonly size: number;
	/** When it was written, in milliseconds since the epoch. */
	readonly at: number;
}

/** Which bytes of a file to read. */
export interface ByteRange {
	/** The first byte. Default 0. */
	readonly start?: number;
	/** The byte after the last one. Default: the end of the file. */
	readonly end?: number;
}

/** The source of a file: its bytes in pieces of any size, read as fast as they are stored. */
export type FileSource = AsyncIterable<Uint8Array> | Iterable<Uint8Array>;

/** The files of one owner in one session, under names. */
export interface SessionFiles {
	/**
	 * Writes or replaces a file: readers see all of the old one until all of the new one is stored. If the source throws,
	 * or a limit is exceeded, the old one stays. Creates a new session if needed. Rejects with `file_too_large`,
	 * `disk_full`, and `lease_lost` if the session was removed in the meantime.
	 */
	write(name: string, source: FileSource): Promise<FileInfo>;
	/**
	 * The bytes of a file, in pieces; each reader sees one version of it. Rejects with `file_not_found`, and with
	 * `file_changed` if that version was removed before its end was read.
	 */
	read(name: string, range?: ByteRange): AsyncIterable<Uint8Array>;
	/** Undefined when there is no such file. */
	stat(name: string): MaybePromise<FileInfo | undefined>;
	/** All of them, in the order of their names. */
	list(): MaybePromise<readonly FileInfo[]>;
	/** Whether there was one. */
	delete(name: string): MaybePromise<boolean>;
}

/** Where the files of all sessions are kept. They go with their session, in one transaction. */
export interface FileStore {
	/** The files of a session that belong to one owner, such as a plugin. Costs nothing until it is used. */
	of(sessionKey: string, owner: string): SessionFiles;
}

/** How large files may become. */
export interface FileLimits {
	/** Bytes of one file. Default: no limit. Larger ones reject with `file_too_large`. */
	readonly maxFileBytes?: number;
	/**
	 * The maximum size of all files of one session, of all owners, in bytes. Default: no limit. A write beyond it rejects
	 * with `file_too_large`.
	 */
	readonly maxSessionBytes?: number;
}

/** The size of a stored piece in bytes. */
export const pieceSize: number = 256 * 1024;

/**
 * The pieces of a source, each of the size that is kept, the last one shorter. A piece is good until the one after the next
 * is asked for: copy it to keep it.
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

/** A byte range within a file of a given size. @throws RangeError for an invalid range. */
export function rangeIn(
	size: number,
	{ start = 0, end = Number.POSITIVE_INFINITY }: ByteRange,
): { readonly start: number; readonly end: number } {
	if (!(start >= 0) || !(end >= start) || !Number.isInteger(start))
		throw new RangeError(
			"A range of bytes has a whole `start` from 0 on, and an `end` that is not before it.",
		);
	const last = Math.min(size, Math.floor(end));
	return { start: Math.min(start, last), end: last };
}

/** The error of a file that is not there. */
export function fileNotFound(name: string): HoldfastError {
	return new HoldfastError(
		"file_not_found",
		`There is no file ${JSON.stringify(name)}. Check its name, owner and session.`,
		{
			data: { name },
		},
	);
}

/** The error of a file that was removed or replaced while it was read. */
export function fileChanged(name: string): HoldfastError {
	return new HoldfastError(
		"file_changed",
		`The file ${JSON.stringify(name)} was removed or replaced while it was read. Read it again from its beginning.`,
		{ data: { name }, retryable: true },
	);
}

/** The error of a file that is larger than a limit. */
export function fileTooLarge(name: string, limit: keyof FileLimits, bytes: number): HoldfastError {
	return new HoldfastError(
		"file_too_large",
		`The file ${JSON.stringify(name)} passes \`${limit}\`, which is ${bytes} bytes. Nothing of it was kept; write less, or raise the limit of the host.`,
		{ data: { name, limit, bytes } },
	);
}
