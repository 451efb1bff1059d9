// Statements on a bounded pool of connections (keeps I7). A statement that meets a server which is away, restarting or full is
// made again until it works or patience ends; so every statement given here may be made twice, and writes that may not
// carry a number of their own (see commit-queue.ts).

import { journalClosed } from "holdfast/host";
import pg from "pg";
import { digest } from "./digest.ts";
import type { PostgresPool, Resolved } from "./options.ts";
import { isUnavailable, postgresError } from "./postgres-errors.ts";

/** The database of a host. */
export interface Database {
	/** Rows as objects. Rejects with `db_unavailable`, `journal_failed` and the like. */
	query<Row>(text: string, values?: readonly unknown[]): Promise<Row[]>;
	/** The same for a statement that is made again and again: it is prepared, where no pooler is in between. */
	often<Row>(text: string, values?: readonly unknown[]): Promise<Row[]>;
	/** Rows as lists, of a statement that is made again and again. */
	lists<Row>(text: string, values?: readonly unknown[]): Promise<Row[]>;
	/** Once only, with the error of the driver. */
	once<Row>(text: string, values?: readonly unknown[]): Promise<Row[]>;
	readonly closed: boolean;
	close(): Promise<void>;
}

const bigint = 20;
/** Numbers here are all below 2^53. */
export const types: { getTypeParser(oid: number, format: never): unknown } = {
	getTypeParser: (oid, format) => (oid === bigint ? Number : pg.types.getTypeParser(oid, format)),
};

/** Milliseconds to wait before the next attempt; the last one repeats. */
const pauses = [0, 10, 25, 50, 100, 200];

/** Opens the pool of a host; nothing connects yet. */
export function openDatabase({
	pool: given,
	connection,
	maxConnections,
	patienceMs,
	pooler,
}: Resolved): Database {
	const pool: PostgresPool = given ?? (new pg.Pool({ ...connection, max: maxConnections }) as never);
	// A connection that breaks while it is idle is replaced by the next one.
	const ignore = (): void => {};
	pool.on("error", ignore);
	let closed = false;
	let closing: Promise<void> | undefined;

	const names = new Map<string, string>();
	/** The name under which a statement is prepared in each connection. */
	function nameOf(text: string): { name?: string } {
		if (pooler !== "none") return {};
		const name = names.get(text) ?? `holdfast ${digest(text).slice(0, 16)}`;
		names.set(text, name);
		return { name };
	}

	async function once<Row>(text: string, values: readonly unknown[] = [], how: object = {}): Promise<Row[]> {
		const { rows } = await pool.query({ text, values, types, ...how });
		return rows as Row[];
	}

	async function patiently<Row>(text: string, values?: readonly unknown[], how?: object): Promise<Row[]> {
		const until = performance.now() + patienceMs;
		for (let attempt = 0; ; attempt++) {
			if (closed) throw journalClosed();
			try {
				return await once<Row>(text, values, how);
			} catch (error) {
				if (closed && isUnavailable(error)) throw journalClosed();
				if (!isUnavailable(error) || performance.now() > until) throw postgresError(error);
			}
			await pause(attempt);
		}
	}

	return {
		query: (text, values) => patiently(text, values),
		often: (text, values) => patiently(text, values, nameOf(text)),
		lists: (text, values) => patiently(text, values, { ...nameOf(text), rowMode: "array" }),
		once: (text, values) => once(text, values),
		get closed() {
			return closed;
		},
		close() {
			closed = true;
			closing ??= given === undefined ? (pool as unknown as pg.Pool).end() : Promise.resolve();
			return closing;
		},
	};
}

/** Waits before an attempt that follows so many others. */
export function pause(attempt: number): Promise<void> {
	const milliseconds = pauses[Math.min(attempt, pauses.length - 1)];
	return new Promise((resolve) => setTimeout(resolve, milliseconds));
}
