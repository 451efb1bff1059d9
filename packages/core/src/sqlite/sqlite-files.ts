// Files in the journal's file, as pieces of one row each. While a new file is written piece by piece in short
// transactions, it belongs to no session. The last transaction assigns its session and name, taking them from the
// replaced file: readers see either the old one or the new one. A replaced file keeps its pieces for a while, for its
// readers. Pieces of dead writers and of removed files are swept with the other leftovers of long work.
import { leaseLost } from "../facts/index.ts";
import {
	type FileInfo,
	type FileLimits,
	type FileStore,
	fileChanged,
	fileNotFound,
	fileTooLarge,
	type MaybePromise,
	pieceSize,
	piecesOf,
	rangeIn,
	type SessionFiles,
} from "../host/index.ts";
import type { Spent } from "./hidden-sessions.ts";
import { ensureSession } from "./session-writes.ts";
import type { Statements } from "./statements.ts";
import { fromStored, toStored } from "./stored-text.ts";
import type { WorkerRegistration } from "./worker-row.ts";

/** The journal parts that files need. */
export interface FilesParts {
	readonly statements: Statements;
	readonly worker: WorkerRegistration;
	/** Runs within a transaction and resolves when it is committed. */
	commit<T>(apply: () => T, committed?: () => void): Promise<T>;
	reading<T>(read: () => T): MaybePromise<T>;
	now(): number;
	/** Deletes the leftovers of long work. */
	sweep(): Promise<void>;
	readonly limits: FileLimits;
}

interface FileRow extends FileInfo {
	readonly id: number;
}

interface SessionOfFile {
	readonly id: number;
	readonly incarnation: string;
}

/** The pieces of one file are numbered within one range; no file has more. */
const piecesEach = 2 ** 24;
/** How long a replaced file can still be read to its end, in milliseconds. */
const grace = 60_000;
/** How many pieces are deleted between two time checks. */
const fewPieces = 4;

/** The files of all sessions of a journal. */
export function sqliteFiles(parts: FilesParts): FileStore {
	return { of: (key, owner) => new Files(parts, key, toStored(owner)) };
}

class Files implements SessionFiles {
	readonly #parts: FilesParts;
	readonly #key: string;
	readonly #owner: string;

	constructor(parts: FilesParts, key: string, owner: string) {
		this.#parts = parts;
		this.#key = key;
		this.#owner = owner;
	}

	async write(name: string, source: Parameters<SessionFiles["write"]>[1]): Promise<FileInfo> {
		const { statements, worker, commit, reading, sweep } = this.#parts;
		const begun = await reading(() => this.#session());
		let file: number | undefined;
		let size = 0;
		let last: Uint8Array | undefined;
		let count = 0;
		const keep = (piece: Uint8Array): void => {
			// Others sweep the writes of a dead worker, so this one must send heartbeats.
			const writer = worker.present();
			file ??= Number(
				statements.addFile.run(null, this.#owner, toStored(name), 0, 0, writer).lastInsertRowid,
			);
			statements.addPiece.run(file * piecesEach + count, piece, statements.sumOf([], piece));
		};
		try {
			for await (const piece of piecesOf(source)) {
				size += piece.length;
				this.#checkSize(name, size);
				if (last !== undefined) {
					const before = last;
					const known = file;
					await commit(
						() => {
							file = known; // a transaction may be repeated
							keep(before);
						},
						() => worker.committed(),
					);
					count++;
				}
				last = piece;
			}
			const known = file;
			const info = await commit(
				() => {
					file = known;
					this.#checkSession(begun);
					if (last !== undefined || file === undefined) keep(last ?? new Uint8Array());
					return this.#show(name, file as unknown as number, size);
				},
				() => worker.committed(),
			);
			void sweep().catch(() => {}); // leftovers that cannot be swept now are left to the next sweep
			return info;
		} catch (error) {
			await this.#giveUp(file);
			throw error;
		}
	}

	async *read(name: string, range = {}): AsyncGenerator<Uint8Array, void, void> {
		const { statements, reading } = this.#parts;
		const file = await reading(() => this.#find(name));
		if (file === undefined) throw fileNotFound(name);
		const { start, end } = rangeIn(file.size, range);
		for (let at = start; at < end; ) {
			const number = file.id * piecesEach + Math.floor(at / pieceSize);
			const row = await reading(() => statements.readPiece.get(number) as { bytes: Uint8Array } | undefined);
			if (row === undefined) throw fileChanged(name);
			const from = at % pieceSize;
			const part = row.bytes.subarray(from, from + end - at);
			yield part;
			at += part.length;
		}
	}

	stat(name: string): MaybePromise<FileInfo | undefined> {
		return this.#parts.reading(() => {
			const file = this.#find(name);
			return file && infoOf(file);
		});
	}

	list(): MaybePromise<readonly FileInfo[]> {
		const { statements, reading } = this.#parts;
		return reading(() => {
			const session = this.#session();
			if (session === undefined) return [];
			const rows = statements.listFiles.all(session.id, this.#owner) as unknown as FileRow[];
			return rows.map(infoOf).sort((one, other) => (one.name < other.name ? -1 : 1));
		});
	}

	async delete(name: string): Promise<boolean> {
		const { statements, commit, sweep } = this.#parts;
		const found = await commit(() => {
			const file = this.#find(name);
			if (file !== undefined) statements.hideFile.run(0, file.id);
			return file !== undefined;
		});
		if (found) await sweep().catch(() => {});
		return found;
	}

	/** Makes the file visible under its name. A file that had the name loses it. */
	#show(name: string, file: number, size: number): FileInfo {
		const { statements, now, limits } = this.#parts;
		const at = now();
		const session = ensureSession(statements, toStored(this.#key), at);
		const old = this.#find(name);
		const { maxSessionBytes } = limits;
		if (maxSessionBytes !== undefined) {
			const all = statements.sizeOfFiles.get(session) as { size: number };
			if (all.size - (old?.size ?? 0) + size > maxSessionBytes)
				throw fileTooLarge(name, "maxSessionBytes", maxSessionBytes);
		}
		if (old !== undefined) statements.hideFile.run(at, old.id);
		statements.showFile.run(session, size, at, file);
		return { name, size, at };
	}

	#checkSize(name: string, size: number): void {
		for (const limit of ["maxFileBytes", "maxSessionBytes"] as const) {
			const bytes = this.#parts.limits[limit] ?? Number.POSITIVE_INFINITY;
			if (size > bytes) throw fileTooLarge(name, limit, bytes);
		}
	}

	/** A file belongs to the session in which its write started. */
	#checkSession(begun: SessionOfFile | undefined): void {
		if (begun !== undefined && this.#session()?.incarnation !== begun.incarnation) throw leaseLost(this.#key);
	}

	/** Deletes the written pieces immediately if possible, otherwise with the next sweep after this worker ends. */
	async #giveUp(file: number | undefined): Promise<void> {
		const { statements, commit, sweep } = this.#parts;
		if (file === undefined) return;
		try {
			await commit(() => statements.hideFile.run(0, file));
			await sweep();
		} catch {}
	}

	#session(): SessionOfFile | undefined {
		return this.#parts.statements.viewSession.get(toStored(this.#key)) as SessionOfFile | undefined;
	}

	#find(name: string): FileRow | undefined {
		const { statements } = this.#parts;
		const session = statements.sessionId.get(toStored(this.#key)) as { id: number } | undefined;
		if (session === undefined) return undefined;
		return statements.findFile.get(session.id, this.#owner, toStored(name)) as FileRow | undefined;
	}
}

function infoOf({ name, size, at }: FileRow): FileInfo {
	return { name: fromStored(name), size, at };
}

/** Returns a file that is unreachable and has no writer; undefined if there is none. */
export function looseFile(
	statements: Statements,
	worker: WorkerRegistration,
	now: number,
): number | undefined {
	const rows = statements.looseFiles.all() as { id: number; worker: number | null; at: number }[];
	return rows.find(({ worker: writer, at }) => {
		if (writer === null) return now - at >= grace;
		return !worker.isOwn(writer) && worker.find(writer)?.alive !== true;
	})?.id;
}

/** Deletes pieces of an unreachable file, and finally the file. Call it within a transaction. */
export function removePieces(statements: Statements, file: number, spent: Spent): void {
	const [from, through] = [file * piecesEach, (file + 1) * piecesEach];
	const few = { from, through, count: fewPieces };
	while (Number(statements.deleteSomePieces.run(few).changes) === fewPieces) if (spent()) return;
	statements.deleteFile.run(file);
}
