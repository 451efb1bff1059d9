// A real PgBouncer in transaction mode, in front of the tests' server. It refuses to run as root, so for root it runs as
// the user `nobody`.
import { type ChildProcess, spawn } from "node:child_process";
import { chownSync, existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import pg from "pg";

const program = process.env.HOLDFAST_PGBOUNCER ?? "/usr/sbin/pgbouncer";

/** Whether the program exists: the package `pgbouncer` of Debian and Ubuntu, or the path in `HOLDFAST_PGBOUNCER`. */
export const hasPgBouncer = existsSync(program);

export interface PgBouncer {
	/** The server's address, through it. */
	readonly url: string;
	stop(): Promise<void>;
}

const nobody = 65_534;

/** Starts it before a server. */
export async function startPgBouncer(serverUrl: string): Promise<PgBouncer> {
	const { hostname, port, username, password, pathname } = new URL(serverUrl);
	const database = pathname.slice(1);
	const user = process.getuid?.() === 0 ? { uid: nobody, gid: nobody } : {};
	const folder = mkdtempSync("/tmp/holdfast-pgbouncer-");
	const own = await freePort();
	const secret = password === "" ? "" : ` password=${decodeURIComponent(password)}`;
	const settings = join(folder, "pgbouncer.ini");
	writeFileSync(
		settings,
		`[databases]
${database} = host=${hostname} port=${port || 5432} dbname=${database} user=${decodeURIComponent(username)}${secret}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${own}
unix_socket_dir =
auth_type = any
pool_mode = transaction
max_client_conn = 500
default_pool_size = 5
`,
	);
	if (user.uid !== undefined) for (const path of [folder, settings]) chownSync(path, user.uid, user.gid);
	const child = spawn(program, ["-q", settings], { ...user, stdio: "ignore", cwd: folder });
	const last = (): void => void child.kill("SIGKILL");
	process.once("exit", last);
	const url = `postgres://${username}@127.0.0.1:${own}/${database}`;
	const ended = new Promise<void>((resolve) => {
		child.once("exit", () => resolve());
		child.once("error", () => resolve());
	});
	async function stop(): Promise<void> {
		child.kill("SIGKILL");
		await ended;
		process.removeListener("exit", last);
		rmSync(folder, { recursive: true, force: true });
	}
	try {
		await answering(url, child);
	} catch (error) {
		await stop();
		throw error;
	}
	return { url, stop };
}

async function answering(url: string, child: ChildProcess): Promise<void> {
	for (let attempt = 0; ; attempt++) {
		const client = new pg.Client(url);
		client.on("error", () => {});
		try {
			await client.connect();
			await client.query("SELECT 1");
			return;
		} catch (error) {
			if (attempt > 1_000 || child.exitCode !== null) throw error;
			await new Promise((resolve) => setTimeout(resolve, 25));
		} finally {
			await client.end().catch(() => {});
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
