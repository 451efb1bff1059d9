// Clients over a SQLite file, with Node's built-in SQLite: nothing to install.
import { checkOptions, optionNames } from "@holdfast/upp";
import { clientsOver } from "../clients/index.ts";
import type { Clients, PersistentOptions } from "../contract/index.ts";
import { keyRingOf } from "../encryption/index.ts";
import { sqliteStorage } from "./sqlite-storage.ts";

const sqliteNames = optionNames<SqliteOptions>({
	file: true,
	busyTimeoutMs: true,
	unencrypted: true,
	maxEntryBytes: true,
	retention: "object",
	access: "list",
	audit: "object",
	embed: true,
	encryption: "object",
	now: "function",
});

/** Options of `sqliteClients`. */
export interface SqliteOptions extends PersistentOptions {
	/** Path of the file. The file and its folders are created if they are missing; only this user can read the file. */
	readonly file: string;
	/** How long a call waits while another process writes, in milliseconds. Default: 5,000. */
	readonly busyTimeoutMs?: number;
}

/**
 * Creates a memory client and a database client over a file. Several processes of a machine may share a file.
 * @throws HoldfastError `ENCRYPTION_KEY_REQUIRED`, `ENCRYPTION_KEY_INVALID`, `OPTION_INVALID`.
 * @example
 * import { randomBytes } from "node:crypto";
 *
 * const clients = sqliteClients({
 * 	file: "memory.db",
 * 	encryption: { keys: { "2026": randomBytes(32) }, current: "2026" },
 * });
 * await clients.database.write("users", "ann", { name: "Ann" });
 * await clients.close();
 */
export function sqliteClients(options: SqliteOptions): Clients {
	checkOptions(options, sqliteNames, { of: "sqliteClients()" });
	return clientsOver(sqliteStorage(options), options, keyRingOf(options));
}
