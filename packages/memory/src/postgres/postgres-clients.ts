// Clients over Postgres, with the package `pg` or your own pool.
import { checkOptions, HoldfastError, longestForeignWait, optionNames } from "@holdfast/upp";
import { clientsOver } from "../clients/index.ts";
import type { Clients, PersistentOptions } from "../contract/index.ts";
import { keyRingOf } from "../encryption/index.ts";
import { duration } from "../storage/index.ts";
import { PostgresConnection, type Queryable } from "./postgres-connection.ts";
import { postgresStorage } from "./postgres-storage.ts";

const postgresNames = optionNames<PostgresOptions>({
	url: true,
	pool: "object",
	schema: "text",
	maxConnections: "number",
	connectTimeoutMs: true,
	commandTimeoutMs: true,
	unencrypted: true,
	maxEntryBytes: true,
	retention: "object",
	access: "list",
	audit: "object",
	embed: true,
	encryption: "object",
	now: "function",
});

/** Options of `postgresClients`. */
export interface PostgresOptions extends PersistentOptions {
	/** For example `postgres://user:password@localhost:5432/database`. */
	readonly url?: string;
	/** Your own pool, instead of `url`. It is not closed. */
	readonly pool?: Queryable;
	/** The schema of the table; created if it is missing. Default: `holdfast_memory`. */
	readonly schema?: string;
	/** Maximum number of connections to `url`. Default: 10. */
	readonly maxConnections?: number;
	/** Milliseconds until a connection attempt is abandoned. Default: 5,000. */
	readonly connectTimeoutMs?: number;
	/** Milliseconds until a statement is abandoned. Default: 30,000. */
	readonly commandTimeoutMs?: number;
}

/**
 * Creates a memory client and a database client over Postgres 14 or newer. Search ranks with Postgres's full-text search.
 * @throws HoldfastError `ENCRYPTION_KEY_REQUIRED`, `ENCRYPTION_KEY_INVALID`, `OPTION_INVALID`.
 * @example
 * const clients = postgresClients({ url: "postgres://localhost/agents", unencrypted: true });
 */
export function postgresClients(options: PostgresOptions): Clients {
	checkOptions(options, postgresNames, { of: "postgresClients()" });
	const { url, pool, schema = "holdfast_memory", maxConnections = 10 } = options;
	const most = longestForeignWait;
	const connectTimeoutMs = duration("connectTimeoutMs", options.connectTimeoutMs, 5_000, { most });
	const commandTimeoutMs = duration("commandTimeoutMs", options.commandTimeoutMs, 30_000, { most });
	if ((url === undefined) === (pool === undefined))
		throw new HoldfastError("OPTION_INVALID", "Postgres needs either `url` or `pool`.");
	if (pool !== undefined && options.maxConnections !== undefined)
		throw new HoldfastError(
			"OPTION_INVALID",
			"`maxConnections` has no effect with `pool`: set it on the pool.",
		);
	const connection = new PostgresConnection({
		url,
		pool,
		maxConnections,
		connectTimeoutMs,
		commandTimeoutMs,
	});
	return clientsOver(postgresStorage(connection, schema), options, keyRingOf(options));
}
