// A real MariaDB, and a driver for the SQL connector as the guide describes one of your own.
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createPool, type Pool, type PoolConnection } from "mysql2/promise";
import type { SqlDriver } from "./index.ts";

/** Where the package `mariadb-server` of Debian and Ubuntu has its server. */
export const mariadbServer = "/usr/sbin/mariadbd";
export const hasMariadb: boolean = existsSync(mariadbServer);

export interface MysqlServer {
	readonly pool: Pool;
	readonly folder: string;
	stop(): Promise<void>;
}

/** Starts a server in a folder of its own, reached by a socket in it. */
export async function startMysqlServer(): Promise<MysqlServer> {
	const folder = mkdtempSync(join(tmpdir(), "mariadb-"));
	const data = join(folder, "data");
	const user = process.getuid?.() === 0 ? ["--user=root"] : [];
	const common = ["--no-defaults", `--datadir=${data}`, ...user];
	execFileSync("mariadb-install-db", [...common, "--auth-root-authentication-method=normal"], {
		stdio: "ignore",
	});
	const socketPath = join(folder, "s");
	const server = spawn(
		mariadbServer,
		[...common, `--socket=${socketPath}`, "--skip-networking", "--secure-file-priv="],
		{ stdio: "ignore" },
	);
	const pool = createPool({ socketPath, user: "root", database: "test", connectionLimit: 4 });
	for (let attempt = 0; ; attempt++)
		try {
			await pool.query("SELECT 1");
			break;
		} catch (error) {
			if (attempt === 200 || server.exitCode !== null) throw error;
			await new Promise((resolve) => setTimeout(resolve, 100));
		}
	return { pool, folder, stop: () => stop(server, pool, folder) };
}

async function stop(server: ChildProcess, pool: Pool, folder: string): Promise<void> {
	await pool.end();
	const exited = new Promise((resolve) => server.once("exit", resolve));
	server.kill("SIGKILL");
	await exited;
	rmSync(folder, { recursive: true, force: true });
}

/** One statement by the protocol of prepared statements, in a read-only transaction where it must not write. */
export function mysqlDriver(pool: Pool): SqlDriver {
	return {
		async query({ sql, params, readOnly, maxRows }, signal) {
			const connection = await pool.getConnection();
			const end = (): void => void kill(pool, connection);
			signal.addEventListener("abort", end);
			try {
				await connection.query(readOnly ? "START TRANSACTION READ ONLY" : "START TRANSACTION READ WRITE");
				const [rows] = await connection.execute(sql, [...params]);
				await connection.query(readOnly ? "ROLLBACK" : "COMMIT");
				if (!Array.isArray(rows)) return { rows: [], changes: rows.affectedRows };
				const plain = JSON.parse(JSON.stringify(rows.slice(0, maxRows))) as Record<string, unknown>[];
				return { rows: plain, ...(rows.length > maxRows ? { truncated: true } : {}) };
			} finally {
				signal.removeEventListener("abort", end);
				connection.destroy(); // variables, locks and temporary tables go with it
			}
		},
	};
}

async function kill(pool: Pool, connection: PoolConnection): Promise<void> {
	await pool.query(`KILL ${connection.threadId}`).catch(() => {});
	connection.destroy();
}
