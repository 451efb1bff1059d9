// The files of one thread: folders, media types and a tree over the host's files, which have only names and bytes. A file
// exists if its bytes do; the host replaces them atomically, so a reader sees either the old file or the new one (keeps
// I2).
import { HoldfastTypeError } from "@holdfast/upp";
import { HoldfastError, isHoldfastError } from "holdfast";
import { pieceSize, type SessionFiles } from "holdfast/host";
import type {
	FileChunk,
	FileRecord,
	FileStats,
	ReaddirResult,
	ReadFileStreamOptions,
	ThreadState,
	WriteFileOptions,
} from "../types/index.ts";
import {
	type Entry,
	type FileEntry,
	fileRecord,
	folderEntry,
	folderRecord,
	isFolder,
	mimeTypeOf,
} from "./entry.ts";
import { foldersAbove, pathOfEntry, prefixOf, threadPath } from "./thread-path.ts";

/** Named values that a host stores with a session. */
export interface EntryValues {
	get(name: string): unknown;
	set(name: string, value: unknown): unknown;
	delete(name: string): unknown;
	list():
		| readonly { readonly name: string; readonly value: unknown }[]
		| Promise<readonly { readonly name: string; readonly value: unknown }[]>;
}

/** The storage of one thread's files. */
export interface ThreadFilesParts {
	readonly bytes: SessionFiles;
	readonly entries: EntryValues;
}

/** Bytes to write. A stream is read at the speed of the store, so a file of any size passes through bounded memory. */
export type FileContent = Parameters<ThreadState["writeFile"]>[1];

/** How often a read is repeated if the file is replaced during it. */
const readAgain = 5;
const encoder = new TextEncoder();

export class ThreadFiles {
	readonly #bytes: SessionFiles;
	readonly #entries: EntryValues;

	constructor({ bytes, entries }: ThreadFilesParts) {
		this.#bytes = bytes;
		this.#entries = entries;
	}

	/**
	 * Writes or replaces a file, and creates its parent folders.
	 * @throws HoldfastError `invalid_path`; `is_folder`; `not_a_folder`; `file_too_large`; `disk_full`.
	 */
	async writeFile(
		path: string,
		content: FileContent,
		mimeType?: string,
		{ metadata, width, height }: WriteFileOptions = {},
	): Promise<FileRecord> {
		const name = pathOfEntry(path);
		if (await this.#isFolder(name)) throw isAFolder(name, "A file cannot replace it.");
		await this.#makeFolders(foldersAbove(name));
		const info = await this.#bytes.write(name, piecesOfContent(content));
		const entry: FileEntry = {
			mimeType: mimeType || mimeTypeOf(name),
			size: info.size,
			at: info.at,
			...(width === undefined ? {} : { width }),
			...(height === undefined ? {} : { height }),
			...(metadata === undefined ? {} : { metadata }),
		};
		await this.#entries.set(name, entry);
		return fileRecord(info, entry);
	}

	/** Returns the bytes of a file; null if it does not exist. @throws HoldfastError `invalid_path`. */
	async readFile(path: string): Promise<ArrayBuffer | null> {
		const name = threadPath(path);
		for (let attempt = 1; ; attempt++) {
			const pieces: Uint8Array[] = [];
			try {
				for await (const piece of this.#bytes.read(name)) pieces.push(piece);
				return joined(pieces);
			} catch (error) {
				const code = isHoldfastError(error) ? error.code : undefined;
				if (code === "file_not_found") return null;
				if (code !== "file_changed" || attempt === readAgain) throw error;
			}
		}
	}

	/**
	 * Returns the bytes of a file in chunks of equal size, except for a shorter last one; null if the file does not
	 * exist. One read sees one version of the file.
	 * @throws HoldfastError `invalid_path`; while reading, `file_changed`.
	 */
	async readFileStream(
		path: string,
		{ chunkSize = pieceSize, signal }: ReadFileStreamOptions = {},
	): Promise<AsyncIterable<FileChunk> | null> {
		const name = threadPath(path);
		if (!(Number.isInteger(chunkSize) && chunkSize >= 1))
			throw new RangeError("`chunkSize` must be an integer of at least 1 byte.");
		for (;;) {
			const info = await this.#bytes.stat(name);
			if (info === undefined) return null;
			const pieces = this.#bytes.read(name)[Symbol.asyncIterator]();
			try {
				const first = await pieces.next();
				const after = await this.#bytes.stat(name);
				if (after?.size === info.size && after.at === info.at)
					return chunksOf(first, pieces, info.size, Math.min(chunkSize, largestChunk), signal);
				await pieces.return?.();
			} catch (error) {
				if (!isHoldfastError(error) || !["file_changed", "file_not_found"].includes(error.code)) throw error;
			}
		}
	}

	/** Returns the description of a file or folder, or null. @throws HoldfastError `invalid_path`. */
	async statFile(path: string): Promise<FileRecord | null> {
		const name = threadPath(path);
		const info = name === "/" ? undefined : await this.#bytes.stat(name);
		if (info !== undefined) return fileRecord(info, await this.#entries.get(name));
		return (await this.#isFolder(name)) ? folderRecord(name) : null;
	}

	/**
	 * Returns the direct entries of a folder, sorted by name.
	 * @throws HoldfastError `invalid_path`; `folder_not_found`; `not_a_folder`.
	 */
	async readdirFile(path: string): Promise<ReaddirResult> {
		const folder = threadPath(path);
		const prefix = prefixOf(folder);
		const found = new Map<string, FileRecord>();
		for (const record of await this.#all()) {
			if (!record.path.startsWith(prefix) || record.path === folder) continue;
			const end = record.path.indexOf("/", prefix.length);
			if (end < 0) found.set(record.path, record);
			else {
				const child = record.path.slice(0, end);
				if (!found.has(child)) found.set(child, folderRecord(child));
			}
		}
		if (found.size === 0 && folder !== "/") await this.#checkFolder(folder);
		return { entries: [...found.values()].sort(byPath) };
	}

	/** Removes a file. @throws HoldfastError `invalid_path`; `file_not_found`; `is_folder`. */
	async unlinkFile(path: string): Promise<void> {
		const name = pathOfEntry(path);
		if (await this.#bytes.delete(name)) await this.#entries.delete(name);
		else if (await this.#isFolder(name)) throw isAFolder(name, "Remove it with `rmdirFile`.");
		else throw fileMissing(name);
	}

	/** Creates a folder and its parents. Does nothing if the folder exists. @throws HoldfastError `not_a_folder`. */
	async mkdirFile(path: string): Promise<FileRecord> {
		const name = threadPath(path);
		if (name !== "/") await this.#makeFolders([...foldersAbove(name), name]);
		return folderRecord(name);
	}

	/** Removes an empty folder. @throws HoldfastError `folder_not_found`; `not_a_folder`; `folder_not_empty`. */
	async rmdirFile(path: string): Promise<void> {
		const name = pathOfEntry(path);
		const { entries } = await this.readdirFile(name);
		if (entries.length > 0)
			throw new HoldfastError(
				"folder_not_empty",
				`The folder ${JSON.stringify(name)} is not empty. Remove its contents first.`,
			);
		await this.#entries.delete(name);
	}

	/** Returns the total number and size of all files. */
	async getFileStats(): Promise<FileStats> {
		const files = await this.#bytes.list();
		return { totalSize: files.reduce((sum, { size }) => sum + size, 0), fileCount: files.length };
	}

	/** Returns all files, sorted by path. */
	async files(): Promise<readonly FileRecord[]> {
		return (await this.#all()).filter(({ isDirectory }) => !isDirectory).sort(byPath);
	}

	/** Returns the stored pieces of a file. */
	pieces(path: string): AsyncIterable<Uint8Array> {
		return this.#bytes.read(threadPath(path));
	}

	/** Returns files and explicitly created folders. */
	async #all(): Promise<FileRecord[]> {
		const [files, kept] = [await this.#bytes.list(), await this.#entries.list()];
		const entries = new Map(kept.map(({ name, value }) => [name, value]));
		const records = files.map((info) => fileRecord(info, entries.get(info.name)));
		for (const { name } of files) entries.delete(name);
		for (const [name, entry] of entries) if (isFolder(entry)) records.push(folderRecord(name));
		return records;
	}

	async #makeFolders(folders: readonly string[]): Promise<void> {
		for (const folder of folders) {
			if (isFolder(await this.#entries.get(folder))) continue;
			if ((await this.#bytes.stat(folder)) !== undefined) throw notAFolder(folder);
			await this.#entries.set(folder, folderEntry satisfies Entry);
		}
	}

	/** A folder exists if it was created, or if it has an entry. */
	async #isFolder(name: string): Promise<boolean> {
		if (name === "/" || isFolder(await this.#entries.get(name))) return true;
		const prefix = prefixOf(name);
		// Only a concurrent operation of another process can leave a file without its folder.
		return (await this.#bytes.stat(name)) === undefined
			? (await this.#bytes.list()).some((file) => file.name.startsWith(prefix))
			: false;
	}

	async #checkFolder(name: string): Promise<void> {
		if (await this.#isFolder(name)) return;
		if ((await this.#bytes.stat(name)) !== undefined) throw notAFolder(name);
		throw folderMissing(name);
	}
}

/** Maximum size of a chunk in bytes. */
const largestChunk = 2 * 1024 * 1024;

async function* chunksOf(
	first: IteratorResult<Uint8Array, unknown>,
	pieces: AsyncIterator<Uint8Array, unknown>,
	fileSize: number,
	size: number,
	signal: AbortSignal | undefined,
): AsyncGenerator<FileChunk, void, void> {
	const totalChunks = Math.max(1, Math.ceil(fileSize / size));
	/** The chunk that is being assembled from pieces. A piece of chunk size is passed on without a copy. */
	let open: Uint8Array | undefined;
	let [index, filled, left] = [0, 0, fileSize];
	try {
		for (let next = first; !next.done; next = await pieces.next()) {
			const piece = next.value;
			for (let at = 0; at < piece.length; ) {
				signal?.throwIfAborted();
				const length = Math.min(size, left + filled);
				const part = piece.subarray(at, at + length - filled);
				at += part.length;
				left -= part.length;
				let chunk = part;
				if (part.length < length) {
					open ??= new Uint8Array(length);
					open.set(part, filled);
					filled += part.length;
					if (filled < length) continue;
					chunk = open;
				}
				yield { data: chunk, index, totalChunks, isLast: left === 0 };
				index++;
				filled = 0;
				open = undefined;
			}
		}
		if (fileSize === 0) yield { data: new Uint8Array(0), index, totalChunks, isLast: true };
	} finally {
		await pieces.return?.();
	}
}

function piecesOfContent(content: FileContent): Iterable<Uint8Array> | AsyncIterable<Uint8Array> {
	if (typeof content === "string") return [encoder.encode(content)];
	if (content instanceof ArrayBuffer) return [new Uint8Array(content)];
	if (ArrayBuffer.isView(content)) return [content];
	if (typeof (content as Partial<AsyncIterable<unknown>> | null)?.[Symbol.asyncIterator] === "function")
		return content;
	throw new HoldfastTypeError(
		"invalid_argument",
		"A file is written from a string, an ArrayBuffer, a Uint8Array or a stream of Uint8Arrays.",
	);
}

function joined(pieces: readonly Uint8Array[]): ArrayBuffer {
	const bytes = new Uint8Array(pieces.reduce((sum, { length }) => sum + length, 0));
	let at = 0;
	for (const piece of pieces) {
		bytes.set(piece, at);
		at += piece.length;
	}
	return bytes.buffer;
}

function byPath(one: FileRecord, other: FileRecord): number {
	return one.path < other.path ? -1 : 1;
}

function isAFolder(name: string, whatToDo: string): HoldfastError {
	return new HoldfastError("is_folder", `${JSON.stringify(name)} is a folder. ${whatToDo}`);
}

function notAFolder(name: string): HoldfastError {
	return new HoldfastError(
		"not_a_folder",
		`${JSON.stringify(name)} is a file, not a folder. Choose another path.`,
	);
}

function fileMissing(name: string): HoldfastError {
	return new HoldfastError(
		"file_not_found",
		`The file ${JSON.stringify(name)} does not exist in this thread. Check its path.`,
	);
}

function folderMissing(name: string): HoldfastError {
	return new HoldfastError(
		"folder_not_found",
		`The folder ${JSON.stringify(name)} does not exist in this thread. Check its path.`,
	);
}
