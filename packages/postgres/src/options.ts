// The options of a host in Postgres, validated on entry.

import type { ConnectionOptions } from "node:tls";
import { checkOptions, durationFault, HoldfastError, longestForeignWait, optionNames } from "@holdfast/upp";
import type { FileLimits } from "holdfast/host";

/** The required part of a `Pool` of `pg`. */
export interface PostgresPool {
	/** Takes a connection, which `release` returns; `release` with an error closes it. */
	connect(): Promise<PooledConnection>;
	/** Adds a listener of errors of idle connections. */
	on(event: "error", listener: (error: Error) => void): unknown;
	/** Number of `connect` calls that wait for a connection. */
	readonly waitingCount?: number;
	/** The connection options of the pool, which the listening and heartbeat connections share. */
	readonly options: object;
}

/** A connection of a pool. */
export interface PooledConnection {
	/** Runs a query in the form that `pg` accepts. */
	query(config: unknown): Promise<{ readonly rows: unknown[] }>;
	/** Adds a listener of connection errors. */
	on(event: "error", listener: (error: Error) => void): unknown;
	/** Removes that listener. */
	off(event: "error", listener: (error: Error) => void): unknown;
	/** Returns the connection to the pool; with an error, closes it. */
	release(error?: Error): void;
}

/** Options of `postgresHost`. */
export interface PostgresHostOptions {
	/**
	 * Address of the database, such as `postgres://user:password@host:5432/database?sslmode=verify-full`. Alternatively,
	 * pass `pool`.
	 */
	readonly connectionString?: string;
	/**
	 * A shared pool of `pg`. It is not closed with the host. If your code holds one of its connections while it waits
	 * for a run, that run may get none. Calls that wait for a connection for `patienceMs` reject with `pool_exhausted`.
	 */
	readonly pool?: PostgresPool;
	/** The schema of the tables: lower case letters, digits and `_`. Created if it is missing. Default `holdfast`. */
	readonly schema?: string;
	/** TLS options of `pg`. Default: those of the connection string. */
	readonly ssl?: boolean | ConnectionOptions;
	/**
	 * The maximum number of connections of this host, in addition to one for listening and one for the heartbeat. Default
	 * 10.
	 */
	readonly maxConnections?: number;
	/**
	 * Set to `transaction` behind a pooler that may give each transaction another connection, such as PgBouncer.
	 * Connections then keep no state, and changes by others are polled for, unless there is a `sessionConnectionString`.
	 * Default: `none`.
	 */
	readonly pooler?: "none" | "transaction";
	/** A connection to the same database that bypasses the pooler, for listening and the heartbeat. */
	readonly sessionConnectionString?: string;
	/** Milliseconds between two polls for changes if notifications are unavailable. Default 100. */
	readonly pollMs?: number;
	/**
	 * Milliseconds after its last heartbeat until a worker counts as dead. Default 1,500. Shorter: sessions of a hung
	 * worker continue earlier; longer: a slow network does less harm. The end of a worker's process is noticed at once.
	 */
	readonly leaseTtlMs?: number;
	/** Milliseconds until a connection attempt is abandoned. Default 5,000. */
	readonly connectTimeoutMs?: number;
	/** Milliseconds a statement may take. Default 30,000. Behind a pooler, set the server's `statement_timeout` too. */
	readonly statementTimeoutMs?: number;
	/** Milliseconds a statement may wait for a lock. Default 10,000. */
	readonly lockTimeoutMs?: number;
	/**
	 * How long calls wait, in milliseconds: for a server that is unavailable, restarting or full before they reject with
	 * `db_unavailable`, and for a pool connection before they reject with `pool_exhausted`. Default 10,000.
	 */
	readonly patienceMs?: number;
	/**
	 * Clock for sessions and inputs, in milliseconds since the epoch. Default: the system's. Leases use the server's
	 * clock.
	 */
	readonly clock?: { now(): number };
	/** Size limits of files stored with sessions. Default: no limit. */
	readonly files?: FileLimits;
	/** Name of this worker, at most 200 characters; unique among live workers. Default: a random one. */
	readonly workerId?: string;
}

/** The options with defaults applied. */
export interface Resolved
	extends Required<
		Omit<PostgresHostOptions, "connectionString" | "pool" | "ssl" | "sessionConnectionString">
	> {
	readonly pool: PostgresPool | undefined;
	/** The connection options. */
	readonly connection: object;
	/** The options of a lasting connection; undefined if none is possible. */
	readonly lasting: object | undefined;
	/** The connection options of the queue. */
	readonly queueConnection: object;
}

const known = optionNames<PostgresHostOptions>({
	connectionString: true,
	pool: true,
	schema: true,
	ssl: true,
	maxConnections: true,
	pooler: true,
	sessionConnectionString: "text",
	pollMs: true,
	leaseTtlMs: true,
	connectTimeoutMs: true,
	statementTimeoutMs: true,
	lockTimeoutMs: true,
	patienceMs: true,
	clock: "object",
	files: "object",
	workerId: true,
});

const address = 'Write `connectionString: "postgres://…"`.';
const parts = `${address} It contains user, password, host, port and database.`;
/** Names of other database libraries, each with what to write instead. */
const instead = {
	url: address,
	uri: address,
	dsn: address,
	databaseUrl: address,
	connection: address,
	client: "Write `pool: new Pool(…)`: one connection is not enough.",
	host: parts,
	port: parts,
	user: parts,
	password: parts,
	database: parts,
	max: "Write `maxConnections`.",
};

/** @throws HoldfastError `invalid_option`; the message names the option. */
export function resolveOptions(options: PostgresHostOptions): Resolved {
	// A misspelt option would be ignored silently.
	checkOptions(options, known, { of: "postgresHost()", instead });
	const {
		connectionString,
		pool,
		ssl,
		sessionConnectionString,
		pooler = "none",
		schema = "holdfast",
	} = options;
	if ((connectionString === undefined) === (pool === undefined))
		throw invalid("connectionString", "given without `pool`, or absent with it");
	if (connectionString !== undefined && !/^postgres(?:ql)?:\/\//.test(connectionString))
		throw invalid("connectionString", "an address that begins with postgres://");
	if (pool !== undefined && (typeof pool?.on !== "function" || typeof pool.connect !== "function"))
		throw invalid("pool", "a pool of the package pg: new Pool({ connectionString })");
	if (!/^[a-z_][a-z0-9_]{0,47}$/.test(schema) || schema.startsWith("pg_"))
		throw invalid("schema", "a name of up to 48 lower case letters, digits and _");
	if (pooler !== "none" && pooler !== "transaction") throw invalid("pooler", '"none" or "transaction"');
	const workerId = options.workerId ?? globalThis.crypto.randomUUID();
	if (typeof workerId !== "string" || workerId.length > 200 || workerId === "")
		throw invalid("workerId", "a name of 1 to 200 characters");
	const times = {
		maxConnections: positive(options, "maxConnections", 10),
		pollMs: duration(options, "pollMs", 100),
		leaseTtlMs: duration(options, "leaseTtlMs", 1_500),
		connectTimeoutMs: duration(options, "connectTimeoutMs", 5_000),
		statementTimeoutMs: duration(options, "statementTimeoutMs", 30_000),
		lockTimeoutMs: duration(options, "lockTimeoutMs", 10_000),
		patienceMs: duration(options, "patienceMs", 10_000),
	};
	const common = {
		...(ssl === undefined ? {} : { ssl }),
		connectionTimeoutMillis: times.connectTimeoutMs,
		// The server's own timeout fires first and is more specific.
		query_timeout: times.statementTimeoutMs + 5_000,
		keepAlive: true,
	};
	const timeouts = { statement_timeout: times.statementTimeoutMs, lock_timeout: times.lockTimeoutMs };
	const application = { fallback_application_name: "holdfast" };
	const direct = { ...common, ...timeouts, ...application };
	const given = pool === undefined ? { connectionString } : pool.options;
	const lasting =
		sessionConnectionString !== undefined
			? { ...direct, connectionString: sessionConnectionString }
			: pooler === "none"
				? { ...direct, ...given }
				: undefined;
	return {
		...times,
		pool,
		// A pooler rejects options that it does not support.
		connection: pooler === "none" ? { ...direct, ...given } : { ...common, ...given },
		lasting,
		queueConnection: lasting === undefined ? { ...common, ...given } : { ...lasting, ...ofQueue },
		schema,
		pooler,
		clock: options.clock ?? { now: () => Date.now() },
		files: options.files ?? {},
		workerId,
	};
}

/**
 * Special settings of the queue's connections. A crashing server may lose its last commits: a job that reappears is
 * assigned again. The size of the table varies widely, so the planner's statistics are never right. Jobs are
 * fetched by index, and the apparent cost must not trigger compiling the statement each time.
 */
const ofQueue = {
	options: ["synchronous_commit", "enable_seqscan", "enable_bitmapscan", "jit"]
		.map((name) => `-c ${name}=off`)
		.join(" "),
};

function positive(options: PostgresHostOptions, name: keyof PostgresHostOptions, standard: number): number {
	const value = options[name] ?? standard;
	if (typeof value !== "number" || !(value > 0) || value > 2_147_483_647)
		throw invalid(name, "a number above 0");
	return Math.ceil(value);
}

/** Drivers and the server store these in 32 bits. */
function duration(options: PostgresHostOptions, name: keyof PostgresHostOptions, standard: number): number {
	const value = options[name] ?? standard;
	const fault = durationFault(value, { most: longestForeignWait });
	if (fault !== undefined) throw invalid(name, fault);
	return Math.ceil(value as number);
}

function invalid(option: string, expected: string): HoldfastError {
	return new HoldfastError(
		"invalid_option",
		`The option "${option}" of the Postgres host should be ${expected}.`,
		{
			data: { option },
		},
	);
}
