// Clients over Postgres, through the package `pg` or a pool of the caller's.
import { checkOptionNames, HoldfastError, longestForeignWait, optionNames } from "@holdfast/upp";
import { clientsOver } from "../clients/index.ts";
import type { Clients, PersistentOptions } from "../contract/index.ts";
import { keyRingOf } from "../encryption/index.ts";
import { duration } from "../storage/index.ts";
import { PostgresConnection, type Queryable } from "./postgres-connection.ts";
import { postgresStorage } from "./postgres-storage.ts";

const postgresNames = optionNames<PostgresOptions>({
	url: true,
	pool: true,
	schema: true,
	maxConnections: true,
	connectTimeoutMs: true,
	commandTimeoutMs: true,
	unencrypted: true,
	maxEntryBytes: true,
	retention: true,
	access: true,
	audit: true,
	embed: true,
	encryption: true,
	now: true,
});

/** Options of `postgresClients`. */
export interface PostgresOptions extends PersistentOptions {
	/** Such as `postgres://user:password@localhost:5432/database`. */
	readonly url?: string;
	/** A pool of the caller's, in place of `url`. It is not closed. */
	readonly pool?: Queryable;
	/** Where the table is kept; made where it is missing. Default: `holdfast_memory`. */
	readonly schema?: string;
	/** Connections at most. Default: 10. */
	readonly maxConnections?: number;
	/** Milliseconds until a connection is given up. Default: 5,000. */
	readonly connectTimeoutMs?: number;
	/** Milliseconds until a statement is given up. Default: 30,000. */
	readonly commandTimeoutMs?: number;
}

/**
 * A memory client and a database client over Postgres 14 or newer. Search ranks by Postgres's full text search.
 * @throws HoldfastError `ENCRYPTION_KEY_REQUIRED`, `ENCRYPTION_KEY_INVALID`, `OPTION_INVALID`.
 * @example
 * const clients = postgresClients({ url: "postgres://localhost/agents", unencrypted: true });
 */
export function postgresClients(options: PostgresOptions): Clients {
	checkOptionNames(options, postgresNames, { of: "postgresClients()" });
	const { url, pool, schema = "holdfast_memory", maxConnections = 10 } = options;
	const most = longestForeignWait;
	const connectTimeoutMs = duration("connectTimeoutMs", options.connectTimeoutMs, 5_000, { most });
	const commandTimeoutMs = duration("commandTimeoutMs", options.commandTimeoutMs, 30_000, { most });
	if ((url === undefined) === (pool === undefined))
		throw new HoldfastError("OPTION_INVALID", "Postgres needs either `url` or `pool`.");
	const connection = new PostgresConnection({
		url,
		pool,
		maxConnections,
		connectTimeoutMs,
		commandTimeoutMs,
	});
	return clientsOver(postgresStorage(connection, schema), options, keyRingOf(options));
}
