// Files in Postgres, in pieces of one row each. A new file belongs to no session while it is written piece by piece in
// short transactions. The last transaction assigns its session and name, taking them from the replaced file: readers see
// either the old one or the new one. A replaced file keeps its pieces for a while for its readers.
import {
	type FileInfo,
	type FileSource,
	type FileStore,
	fileChanged,
	fileNotFound,
	fileTooLarge,
	fromStored,
	leaseLost,
	pieceSize,
	piecesOf,
	rangeIn,
	type SessionFiles,
	toStored,
} from "holdfast/host";
import { digest } from "./digest.ts";
import type { Store } from "./store.ts";

interface FileRow extends FileInfo {
	readonly id: number;
}

/** The files of all sessions of a store. */
export function postgresFiles(store: Store): FileStore {
	return { of: (key, owner) => new Files(store, key, toStored(owner)) };
}

class Files implements SessionFiles {
	readonly #store: Store;
	readonly #key: string;
	readonly #owner: string;
	readonly #session: string;

	constructor(store: Store, key: string, owner: string) {
		this.#store = store;
		this.#key = key;
		this.#owner = owner;
		this.#session = digest(toStored(key));
	}

	async write(name: string, source: FileSource): Promise<FileInfo> {
		const { database, schema, worker, sweep } = this.#store;
		await worker.register();
		const [begun] = await database.query<{ incarnation: string }>(
			`SELECT incarnation FROM ${schema}.sessions WHERE digest = $1`,
			[this.#session],
		);
		let file: number | undefined;
		let size = 0;
		let count = 0;
		try {
			file = await this.#begin(name);
			for await (const piece of piecesOf(source)) {
				size += piece.length;
				this.#checkSize(name, size);
				await database.query(
					`INSERT INTO ${schema}.file_pieces (file, piece, bytes) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING`,
					[file, count++, Buffer.from(piece)],
				);
			}
			const info = await this.#show({ name, file, size, incarnation: begun?.incarnation });
			void sweep().catch(() => {}); // Files that cannot be swept now are left to the next sweep.
			return info;
		} catch (error) {
			await this.#giveUp(file);
			throw error;
		}
	}

	async *read(name: string, range = {}): AsyncGenerator<Uint8Array, void, void> {
		const { database, schema } = this.#store;
		const file = await this.#find(name);
		if (file === undefined) throw fileNotFound(name);
		const { start, end } = rangeIn(file.size, range);
		for (let at = start; at < end; ) {
			const [row] = await database.query<{ bytes: Uint8Array }>(
				`SELECT bytes FROM ${schema}.file_pieces WHERE file = $1 AND piece = $2`,
				[file.id, Math.floor(at / pieceSize)],
			);
			if (row === undefined) throw fileChanged(name);
			const from = at % pieceSize;
			const part = new Uint8Array(row.bytes.buffer, row.bytes.byteOffset, row.bytes.length).subarray(
				from,
				from + end - at,
			);
			yield part;
			at += part.length;
		}
	}

	async stat(name: string): Promise<FileInfo | undefined> {
		const file = await this.#find(name);
		return file && infoOf(file);
	}

	async list(): Promise<readonly FileInfo[]> {
		const { database, schema, ready } = this.#store;
		await ready();
		const rows = await database.query<FileRow>(
			`SELECT id, name, size, at FROM ${schema}.files
				WHERE session = (SELECT id FROM ${schema}.sessions WHERE digest = $1) AND owner = $2`,
			[this.#session, this.#owner],
		);
		return rows.map(infoOf).sort((one, other) => (one.name < other.name ? -1 : 1));
	}

	async delete(name: string): Promise<boolean> {
		const { database, schema, sweep, ready } = this.#store;
		await ready();
		const rows = await database.query(
			`UPDATE ${schema}.files SET session = NULL, worker = NULL, at = 0 WHERE digest = $2
				AND session = (SELECT id FROM ${schema}.sessions WHERE digest = $1) RETURNING id`,
			[this.#session, this.#digest(name)],
		);
		if (rows.length > 0) await sweep().catch(() => {});
		return rows.length > 0;
	}

	async #begin(name: string): Promise<number> {
		const { database, schema, worker } = this.#store;
		const [row] = await database.query<{ id: number }>(
			`INSERT INTO ${schema}.files (digest, owner, name, size, at, worker) VALUES ($1, $2, $3, 0, 0, $4) RETURNING id`,
			[this.#digest(name), this.#owner, toStored(name), worker.id],
		);
		return (row as { id: number }).id;
	}

	/** Makes the file visible under its name. A file that had the name loses it. */
	async #show(about: {
		readonly name: string;
		readonly file: number;
		readonly size: number;
		readonly incarnation: string | undefined;
	}): Promise<FileInfo> {
		const { commits, options } = this.#store;
		const { name, file, size, incarnation } = about;
		const { maxSessionBytes } = options.files;
		const at = this.#store.now();
		const write = {
			o: "show-file",
			h: this.#session,
			k: toStored(this.#key),
			nh: this.#digest(name),
			file,
			size,
			at,
			...(incarnation === undefined ? {} : { inc: incarnation }),
			...(maxSessionBytes === undefined ? {} : { max: maxSessionBytes }),
		};
		const [outcome] = await commits.commit({ sessions: [this.#session], encode: () => write });
		if (outcome === "lost") throw leaseLost(this.#key);
		if (outcome === "large") throw fileTooLarge(name, "maxSessionBytes", maxSessionBytes as number);
		return { name, size, at };
	}

	#checkSize(name: string, size: number): void {
		for (const limit of ["maxFileBytes", "maxSessionBytes"] as const) {
			const bytes = this.#store.options.files[limit] ?? Number.POSITIVE_INFINITY;
			if (size > bytes) throw fileTooLarge(name, limit, bytes);
		}
	}

	/** Deletes the written pieces at once if possible, otherwise with the next sweep after this worker has ended. */
	async #giveUp(file: number | undefined): Promise<void> {
		const { database, schema, sweep } = this.#store;
		if (file === undefined) return;
		try {
			await database.query(
				`UPDATE ${schema}.files SET worker = NULL, at = 0 WHERE id = $1 AND session IS NULL`,
				[file],
			);
			await sweep();
		} catch {}
	}

	#digest(name: string): string {
		return digest(this.#owner, toStored(name));
	}

	async #find(name: string): Promise<FileRow | undefined> {
		const { database, schema, ready } = this.#store;
		await ready();
		const [file] = await database.query<FileRow>(
			`SELECT id, name, size, at FROM ${schema}.files
				WHERE session = (SELECT id FROM ${schema}.sessions WHERE digest = $1) AND digest = $2`,
			[this.#session, this.#digest(name)],
		);
		return file;
	}
}

function infoOf({ name, size, at }: FileRow): FileInfo {
	return { name: fromStored(name), size, at };
}
