// A connection to Redis, opened by the first command and reopened by the next command after it broke.
//
// `idle` → `connecting` → `connected`; a failure or `close` leads back to `idle`. Only a command connects.
import { HoldfastError, messageOf } from "@holdfast/upp";
import { failed, notInstalled, unavailable, withinTime } from "../storage/index.ts";

/** Sends a command: its name and its arguments. */
export type RedisCommand = (args: string[]) => Promise<unknown>;

interface ConnectionOptions {
	readonly url: string | undefined;
	readonly command: RedisCommand | undefined;
	readonly connectTimeoutMs: number;
	readonly commandTimeoutMs: number;
}

/** The used part of a client of the package `redis`. */
interface Client {
	readonly isReady: boolean;
	on(event: "error", listener: () => void): unknown;
	connect(): Promise<unknown>;
	sendCommand(args: string[]): Promise<unknown>;
	destroy(): void;
}

export class RedisConnection {
	readonly #options: ConnectionOptions;
	/** Identifies the server in errors, without a possible password. */
	readonly #place: string;
	#client: Promise<Client> | undefined;

	constructor(options: ConnectionOptions) {
		this.#options = options;
		this.#place = `Redis${options.url === undefined ? "" : ` at ${hostOf(options.url)}`}`;
	}

	/** Connects, unless the connection is the caller's. */
	async open(): Promise<void> {
		const { connectTimeoutMs, command } = this.#options;
		if (command !== undefined) await this.#sent(() => command(["PING"]), connectTimeoutMs);
		else await this.#connected();
	}

	/** @throws HoldfastError `DB_UNAVAILABLE` without a connection or an answer; `DB_FAILED` for an error reply. */
	async send(args: readonly string[]): Promise<unknown> {
		const { command, commandTimeoutMs } = this.#options;
		if (command !== undefined) return await this.#sent(() => command([...args]), commandTimeoutMs);
		const client = await this.#connected();
		return await this.#sent(() => client.sendCommand([...args]), commandTimeoutMs);
	}

	async close(): Promise<void> {
		const client = this.#client;
		this.#client = undefined;
		(await client?.catch(() => undefined))?.destroy();
	}

	async #connected(): Promise<Client> {
		const opened = this.#client;
		const known = await opened?.catch(() => undefined);
		if (known?.isReady === true) return known;
		// A broken connection has sent nothing of this command, so another one may.
		if (this.#client === opened) this.#client = undefined;
		this.#client ??= this.#connect();
		const client = this.#client;
		try {
			const connected = await client;
			if (connected.isReady) return connected;
			throw unavailable(this.#place, "the connection broke");
		} catch (error) {
			if (this.#client === client) this.#client = undefined;
			throw error;
		}
	}

	async #connect(): Promise<Client> {
		const { url, connectTimeoutMs } = this.#options;
		const createClient = await loadRedis();
		let client: Client | undefined;
		try {
			client = createClient({
				...(url === undefined ? {} : { url }),
				disableOfflineQueue: true,
				socket: { connectTimeout: connectTimeoutMs, reconnectStrategy: false },
			}) as Client;
			client.on("error", () => {});
			// In some versions, connecting does not wait for a reply.
			const connected = client.connect().then(() => client?.sendCommand(["PING"]));
			await withinTime(connectTimeoutMs, this.#place, connected);
			return client;
		} catch (cause) {
			if (client !== undefined) destroyed(client);
			throw errorOf(this.#place, cause);
		}
	}

	async #sent(ask: () => Promise<unknown>, timeoutMs: number): Promise<unknown> {
		try {
			return await withinTime(timeoutMs, this.#place, ask());
		} catch (cause) {
			const error = errorOf(this.#place, cause);
			// A connection that broke or does not respond is not reused, and neither is one to a former primary.
			if (error.code === "DB_UNAVAILABLE" && (!isReply(cause) || isReplica.test(error.message)))
				await this.close();
			throw error;
		}
	}
}

/**
 * Error replies of a server that temporarily cannot work. Old servers quote them in another form for a script, which is
 * included.
 */
const passing = /(?:^|: -)(?:LOADING|BUSY|MASTERDOWN|TRYAGAIN|CLUSTERDOWN|READONLY|NOREPLICAS|MISCONF|OOM)\b/;

const isReplica = /\bREADONLY\b/;

/** All other error replies from Redis are final; errors that are not replies are connection errors. */
function errorOf(place: string, cause: unknown): HoldfastError {
	if (cause instanceof HoldfastError) return cause;
	const message = messageOf(cause);
	if (isReply(cause) && !passing.test(message)) return failed(place, cause);
	return unavailable(place, message, cause);
}

function isReply(cause: unknown): boolean {
	return (
		cause instanceof Error &&
		/ErrorReply|SimpleError|ReplyError|BlobError/.test(`${cause.name} ${cause.constructor.name}`)
	);
}

function destroyed(client: Client): void {
	try {
		client.destroy();
	} catch {
		// It was never connected.
	}
}

function hostOf(url: string): string {
	try {
		return new URL(url).host;
	} catch {
		return "an address that is not a URL";
	}
}

async function loadRedis(): Promise<(options: object) => unknown> {
	try {
		return (await import("redis")).createClient as (options: object) => unknown;
	} catch (cause) {
		throw notInstalled("redis", cause);
	}
}
