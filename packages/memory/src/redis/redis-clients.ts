// Clients over Redis, with the package `redis` or your own connection.
import { checkOptions, HoldfastError, longestForeignWait, optionNames } from "@holdfast/upp";
import { clientsOver } from "../clients/index.ts";
import type { Clients, PersistentOptions } from "../contract/index.ts";
import { keyRingOf } from "../encryption/index.ts";
import { duration } from "../storage/index.ts";
import { type RedisCommand, RedisConnection } from "./redis-connection.ts";
import { redisStorage } from "./redis-storage.ts";

const redisNames = optionNames<RedisOptions>({
	url: true,
	command: "function",
	prefix: "text",
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

/** Options of `redisClients`. */
export interface RedisOptions extends PersistentOptions {
	/** For example `redis://localhost:6379`; with `rediss:` the connection is encrypted. */
	readonly url?: string;
	/** Sends a command over your own connection, instead of `url`: `(args) => client.sendCommand(args)`. */
	readonly command?: RedisCommand;
	/** Prefix of every key. A part in braces keeps all keys on one node of a cluster. Default: `{holdfast}:memory:`. */
	readonly prefix?: string;
	/** Milliseconds until a connection attempt is abandoned. Default: 5,000. */
	readonly connectTimeoutMs?: number;
	/** Milliseconds until a command is abandoned. Default: 30,000. */
	readonly commandTimeoutMs?: number;
}

/**
 * Creates a memory client and a database client over Redis 6.2 or newer. Redis has no text index, so search reads and
 * ranks all values here: its cost grows with their size.
 * @throws HoldfastError `ENCRYPTION_KEY_REQUIRED`, `ENCRYPTION_KEY_INVALID`, `OPTION_INVALID`.
 * @example
 * const clients = redisClients({ url: "redis://localhost:6379", unencrypted: true });
 */
export function redisClients(options: RedisOptions): Clients {
	checkOptions(options, redisNames, { of: "redisClients()" });
	const { url, command, prefix = "{holdfast}:memory:" } = options;
	const most = longestForeignWait;
	const connectTimeoutMs = duration("connectTimeoutMs", options.connectTimeoutMs, 5_000, { most });
	const commandTimeoutMs = duration("commandTimeoutMs", options.commandTimeoutMs, 30_000, { most });
	if ((url === undefined) === (command === undefined))
		throw new HoldfastError("OPTION_INVALID", "Redis needs either `url` or `command`.");
	if (url !== undefined && !isRedisUrl(url))
		throw new HoldfastError(
			"OPTION_INVALID",
			"`url` is not the address of a Redis server. Write it like `redis://localhost:6379`, or with `rediss:` for encryption.",
		);
	const connection = new RedisConnection({ url, command, connectTimeoutMs, commandTimeoutMs });
	return clientsOver(redisStorage(connection, prefix), options, keyRingOf(options));
}

function isRedisUrl(url: string): boolean {
	return URL.canParse(url) && /^rediss?:$/.test(new URL(url).protocol);
}
