// Clients over Redis, through the package `redis` or a connection of the caller's.
import { checkOptionNames, HoldfastError, longestForeignWait, optionNames } from "@holdfast/upp";
import { clientsOver } from "../clients/index.ts";
import type { Clients, PersistentOptions } from "../contract/index.ts";
import { keyRingOf } from "../encryption/index.ts";
import { duration } from "../storage/index.ts";
import { type RedisCommand, RedisConnection } from "./redis-connection.ts";
import { redisStorage } from "./redis-storage.ts";

const redisNames = optionNames<RedisOptions>({
	url: true,
	command: true,
	prefix: true,
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

/** Options of `redisClients`. */
export interface RedisOptions extends PersistentOptions {
	/** Such as `redis://localhost:6379`; with `rediss:` the connection is encrypted. */
	readonly url?: string;
	/** Sends a command over a connection of the caller's, in place of `url`: `(args) => client.sendCommand(args)`. */
	readonly command?: RedisCommand;
	/** Begins every key. Part of it in braces keeps all keys on one node of a cluster. Default: `{holdfast}:memory:`. */
	readonly prefix?: string;
	/** Milliseconds until a connection is given up. Default: 5,000. */
	readonly connectTimeoutMs?: number;
	/** Milliseconds until a command is given up. Default: 30,000. */
	readonly commandTimeoutMs?: number;
}

/**
 * A memory client and a database client over Redis 6.2 or newer. Search reads and ranks here, since Redis has no text
 * index of its own: it costs what there is to search.
 * @throws HoldfastError `ENCRYPTION_KEY_REQUIRED`, `ENCRYPTION_KEY_INVALID`, `OPTION_INVALID`.
 * @example
 * const clients = redisClients({ url: "redis://localhost:6379", unencrypted: true });
 */
export function redisClients(options: RedisOptions): Clients {
	checkOptionNames(options, redisNames, { of: "redisClients()" });
	const { url, command, prefix = "{holdfast}:memory:" } = options;
	const most = longestForeignWait;
	const connectTimeoutMs = duration("connectTimeoutMs", options.connectTimeoutMs, 5_000, { most });
	const commandTimeoutMs = duration("commandTimeoutMs", options.commandTimeoutMs, 30_000, { most });
	if ((url === undefined) === (command === undefined))
		throw new HoldfastError("OPTION_INVALID", "Redis needs either `url` or `command`.");
	const connection = new RedisConnection({ url, command, connectTimeoutMs, commandTimeoutMs });
	return clientsOver(redisStorage(connection, prefix), options, keyRingOf(options));
}
