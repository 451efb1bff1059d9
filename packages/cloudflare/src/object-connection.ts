// The SQLite database of a Durable Object as a connection of a journal.
import type { SqlConnection, SqlParameter, SqlParameters, SqlStatement } from "holdfast/sql";
import type { ObjectStorage, SqlCursor } from "./platform.ts";

/** Wraps the storage of an object as a connection. */
export function objectConnection(storage: ObjectStorage): SqlConnection {
	return {
		exec: (text) => coded(() => void storage.sql.exec(text)),
		prepare: (text) => new Statement(storage, text),
		atomically: (work) => coded(() => storage.transactionSync(work)),
	};
}

/** SQLite's result codes by the names at the end of the platform's messages. */
const resultCodes: Readonly<Record<string, number>> = {
	BUSY: 5,
	LOCKED: 6,
	NOMEM: 7,
	READONLY: 8,
	IOERR: 10,
	CORRUPT: 11,
	FULL: 13,
	TOOBIG: 18,
};

/** Runs a call. SQLite's result code is only in the platform's message, so it is parsed from there. */
function coded<Value>(call: () => Value): Value {
	try {
		return call();
	} catch (error) {
		const name = error instanceof Error ? /: SQLITE_([A-Z]+)/.exec(error.message)?.[1] : undefined;
		const errcode = name === undefined ? undefined : resultCodes[name];
		throw errcode === undefined ? error : Object.assign(error as Error, { errcode });
	}
}

/** A named parameter in a statement: the platform only supports positional ones. */
const namedParameter = /:([a-z]\w*)/gi;

class Statement implements SqlStatement {
	readonly #storage: ObjectStorage;
	readonly #text: string;
	/** The names of the parameters by position; empty for positional parameters. */
	readonly #names: readonly string[];
	#asLists = false;

	constructor(storage: ObjectStorage, text: string) {
		this.#storage = storage;
		this.#names = [...text.matchAll(namedParameter)].map(([, name]) => name as string);
		this.#text = text.replaceAll(namedParameter, "?");
	}

	all(...parameters: readonly (SqlParameter | SqlParameters)[]): unknown[] {
		const cursor = this.#run(parameters);
		return this.#asLists ? [...cursor.raw()] : [...cursor].map(withBytes);
	}

	get(...parameters: readonly (SqlParameter | SqlParameters)[]): unknown {
		const [first] = this.#run(parameters);
		return first && withBytes(first);
	}

	*iterate(...parameters: readonly (SqlParameter | SqlParameters)[]): Iterable<unknown> {
		for (const row of this.#run(parameters)) yield withBytes(row);
	}

	run(...parameters: readonly (SqlParameter | SqlParameters)[]) {
		for (const _ of this.#run(parameters));
		const [done] = this.#storage.sql.exec(
			"SELECT changes() AS changes, last_insert_rowid() AS row",
		) as Iterable<{
			changes: number;
			row: number;
		}>;
		return { changes: done?.changes ?? 0, lastInsertRowid: done?.row ?? 0 };
	}

	setReturnArrays(): void {
		this.#asLists = true;
	}

	#run(parameters: readonly (SqlParameter | SqlParameters)[]): SqlCursor {
		const [first] = parameters;
		const given = isNamed(first) ? this.#names.map((name) => first[name]) : parameters;
		return this.#storage.sql.exec(this.#text, ...given);
	}
}

function isNamed(parameter: SqlParameter | SqlParameters | undefined): parameter is SqlParameters {
	return typeof parameter === "object" && parameter !== null && !(parameter instanceof Uint8Array);
}

/** Converts buffers to byte arrays. */
function withBytes(row: Record<string, unknown>): Record<string, unknown> {
	for (const name in row)
		if (row[name] instanceof ArrayBuffer) row[name] = new Uint8Array(row[name] as ArrayBuffer);
	return row;
}
