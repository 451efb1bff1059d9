// Executes statements on a bounded pool of connections (keeps I7). If the server is unavailable, restarting or full, or ends a
// deadlock, a statement is retried until it succeeds or the wait limit expires. Every statement may therefore run twice; writes
// that must not carry a number (see commit-queue.ts).

import type { HoldfastError } from "@holdfast/upp";
import { journalClosed } from "holdfast/host";
import pg from "pg";
import { digest } from "./digest.ts";
import type { PooledConnection, PostgresPool, Resolved } from "./options.ts";
import { isRolledBack, isUnavailable, notConnected, postgresError } from "./postgres-errors.ts";

/** The database of a host. */
export interface Database {
	/** Returns rows as objects. Rejects with `db_unavailable`, `journal_failed` and the like. */
	query<Row>(text: string, values?: readonly unknown[]): Promise<Row[]>;
	/** The same for a frequent statement, which is prepared unless there is a pooler. */
	often<Row>(text: string, values?: readonly unknown[]): Promise<Row[]>;
	/** Returns rows as lists, for a frequent statement. */
	lists<Row>(text: string, values?: readonly unknown[]): Promise<Row[]>;
	/** Runs a statement without retries; rejects with the driver's error. */
	once<Row>(text: string, values?: readonly unknown[]): Promise<Row[]>;
	readonly closed: boolean;
	close(): Promise<void>;
}

const bigint = 20;
/** All numbers here are below 2^53. */
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
	statementTimeoutMs,
	patienceMs,
	pooler,
}: Resolved): Database {
	const pool: PostgresPool = given ?? (new pg.Pool({ ...connection, max: maxConnections }) as never);
	// A connection that breaks while idle is replaced by the next one.
	const ignore = (): void => {};
	pool.on("error", ignore);
	/** A given pool may have no limit. The server's own timeout fires first and is more specific. */
	const limits = { query_timeout: statementTimeoutMs + 5_000 };
	let closed = false;
	let closing: Promise<void> | undefined;
	/** Cancels the waits for a connection. */
	const waiting = new Set<() => void>();

	const names = new Map<string, string>();
	/** Returns the name of a prepared statement. */
	function nameOf(text: string): { name?: string } {
		if (pooler !== "none") return {};
		const name = names.get(text) ?? `holdfast ${digest(text).slice(0, 16)}`;
		names.set(text, name);
		return { name };
	}

	/** Gets a connection within the time limit and before the host is closed; a later one is returned unused. */
	function connected(withinMs: number): Promise<PooledConnection> {
		return new Promise((resolve, reject) => {
			const giveUp = (error: HoldfastError): void => {
				clearTimeout(timer);
				if (waiting.delete(leave)) reject(error);
			};
			const leave = (): void => giveUp(journalClosed());
			const timer = setTimeout(() => giveUp(notConnected(pool, withinMs)), withinMs);
			waiting.add(leave);
			pool.connect().then(
				(client) => {
					clearTimeout(timer);
					if (waiting.delete(leave)) resolve(client);
					else client.release();
				},
				(error: unknown) => {
					clearTimeout(timer);
					if (waiting.delete(leave)) reject(error);
				},
			);
		});
	}

	async function once<Row>(
		text: string,
		values: readonly unknown[] = [],
		how: object = {},
		withinMs: number = patienceMs,
	): Promise<Row[]> {
		const client = await connected(withinMs);
		// An error that breaks the connection during use also rejects the statement.
		client.on("error", ignore);
		try {
			const { rows } = await client.query({ text, values, types, ...limits, ...how });
			client.off("error", ignore);
			client.release();
			return rows as Row[];
		} catch (error) {
			client.off("error", ignore);
			client.release(error as Error);
			throw error;
		}
	}

	async function patiently<Row>(text: string, values?: readonly unknown[], how?: object): Promise<Row[]> {
		const until = performance.now() + patienceMs;
		for (let attempt = 0; ; attempt++) {
			if (closed) throw journalClosed();
			try {
				return await once<Row>(text, values, how, Math.max(1, until - performance.now()));
			} catch (error) {
				if (closed && isUnavailable(error)) throw journalClosed();
				const mayPass = isUnavailable(error) || isRolledBack(error);
				if (!mayPass || performance.now() > until) throw postgresError(error);
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
			for (const leave of [...waiting]) leave();
			closing ??= given === undefined ? (pool as unknown as pg.Pool).end() : Promise.resolve();
			return closing;
		},
	};
}

/** Waits before an attempt, given the number of earlier ones. */
export function pause(attempt: number): Promise<void> {
	const milliseconds = pauses[Math.min(attempt, pauses.length - 1)];
	return new Promise((resolve) => setTimeout(resolve, milliseconds));
}
