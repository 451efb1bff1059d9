// A pool of connections to Postgres, created for the first statement. A pool with an abandoned statement is discarded,
// and the next statement creates another.
import { failed, notInstalled, unavailable, withinTime } from "../storage/index.ts";

/** The used part of a pool. */
export interface Queryable {
	/** Runs a query with these values for its placeholders. */
	// biome-ignore lint/suspicious/noExplicitAny: rows are what the statement says
	query(text: string, values?: unknown[]): Promise<{ readonly rows: any[] }>;
}

/** A pool of the package `pg`. */
interface Pool extends Queryable {
	on(event: "error", listener: () => void): unknown;
	end(): Promise<void>;
}

interface ConnectionOptions {
	readonly url: string | undefined;
	readonly pool: Queryable | undefined;
	readonly maxConnections: number;
	readonly connectTimeoutMs: number;
	readonly commandTimeoutMs: number;
}

export type Row = Readonly<Record<string, unknown>>;

export class PostgresConnection {
	readonly #options: ConnectionOptions;
	/** Identifies the server in errors, without a possible password. */
	readonly #place: string;
	#pool: Promise<Pool> | undefined;

	constructor(options: ConnectionOptions) {
		this.#options = options;
		this.#place = `Postgres${options.url === undefined ? "" : ` at ${hostOf(options.url)}`}`;
	}

	/** Rejects unless the server answers within the connection timeout. */
	async open(): Promise<void> {
		await this.#within(this.#options.connectTimeoutMs, "SELECT 1", undefined);
	}

	/** @throws HoldfastError `DB_UNAVAILABLE` without a connection or an answer; `DB_FAILED` for a rejected statement. */
	async query(text: string, values?: unknown[]): Promise<readonly Row[]> {
		return await this.#within(this.#options.commandTimeoutMs, text, values);
	}

	async close(): Promise<void> {
		const pool = this.#pool;
		this.#pool = undefined;
		await (await pool?.catch(() => undefined))?.end();
	}

	async #within(timeoutMs: number, text: string, values: unknown[] | undefined): Promise<readonly Row[]> {
		const used = this.#pool;
		try {
			const pool = this.#options.pool ?? (await this.#connected());
			return (await withinTime(timeoutMs, this.#place, pool.query(text, values))).rows;
		} catch (cause) {
			const error = isOfConnection(cause)
				? unavailable(this.#place, messageOf(cause), cause)
				: failed(this.#place, cause);
			// Unresponsive connections are not reused. Ending a pool waits for them, so this is not awaited.
			if (error.code === "DB_UNAVAILABLE" && (used === undefined || used === this.#pool))
				this.close().catch(() => {});
			throw error;
		}
	}

	#connected(): Promise<Pool> {
		this.#pool ??= this.#connect();
		return this.#pool;
	}

	async #connect(): Promise<Pool> {
		const { url, maxConnections, connectTimeoutMs, commandTimeoutMs } = this.#options;
		const Pool = await loadPool();
		const pool = new Pool({
			connectionString: url,
			max: maxConnections,
			connectionTimeoutMillis: connectTimeoutMs,
			query_timeout: commandTimeoutMs,
			allowExitOnIdle: true,
		});
		pool.on("error", () => {});
		return pool;
	}
}

/** Postgres error codes have five characters. Connection errors, and errors without such a code, may be temporary. */
function isOfConnection(cause: unknown): boolean {
	const { code, name } = cause as { code?: unknown; name?: string };
	if (name === "HoldfastError") return false;
	if (typeof code !== "string" || !/^[0-9A-Z]{5}$/.test(code)) return true;
	return /^(?:08|57P|53)/.test(code);
}

function messageOf(cause: unknown): string {
	const { message, code } = cause as { message?: string; code?: string };
	return message || code || String(cause);
}

function hostOf(url: string): string {
	try {
		return new URL(url).host;
	} catch {
		return "an address that is not a URL";
	}
}

async function loadPool(): Promise<new (options: object) => Pool> {
	try {
		return (await import("pg")).default.Pool as unknown as new (
			options: object,
		) => Pool;
	} catch (cause) {
		throw notInstalled("pg", cause);
	}
}
