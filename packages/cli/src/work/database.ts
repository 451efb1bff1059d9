/** Opens the database of the sessions, a file or one of Postgres; what cannot be opened is a matter of usage, said in one line. */
import { existsSync, mkdirSync, statSync, writeFileSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { type Host, isHoldfastError } from "holdfast";
import { sqliteHost } from "holdfast/sqlite";
import { UsageError } from "./usage-error.ts";

/** Whether a database is one of Postgres, and its name an address. */
export function isPostgres(db: string): boolean {
	return /^postgres(?:ql)?:\/\//.test(db);
}

/** A database as it was given: a path from a folder, or an address. */
export function databaseOf(folder: string, given: string): string {
	return isPostgres(given) ? given : resolve(folder, given);
}

/** A database as it may be shown: without a password. */
export function shownDatabase(db: string): string {
	return isPostgres(db)
		? db.replace(/^(\w+:\/\/[^/?#@:]*):[^/?#@]*@/, "$1@").replace(/([?&]password=)[^&]*/g, "$1…")
		: db;
}

/**
 * Opens or makes the database.
 * @throws UsageError when it cannot be used.
 */
export async function openDatabase(path: string): Promise<Host> {
	return isPostgres(path) ? openPostgres(path) : openFile(path);
}

/** Its package is loaded only where it is needed. */
async function openPostgres(connectionString: string): Promise<Host> {
	const { postgresHost } = await import("@holdfast/postgres");
	let host: Host | undefined;
	try {
		host = postgresHost({ connectionString });
		// It connects when it is used, which is now.
		await host.journal.list({ limit: 1 });
		return host;
	} catch (error) {
		await host?.close();
		const message = error instanceof Error ? error.message : String(error);
		throw new UsageError(`The database ${shownDatabase(connectionString)} cannot be used. ${message}`);
	}
}

function openFile(path: string): Host {
	if (existsSync(path) && statSync(path).isDirectory())
		throw new UsageError(`The database ${path} is a folder. Give the path of a file.`);
	const folder = dirname(path);
	try {
		if (!existsSync(folder)) {
			mkdirSync(folder, { recursive: true });
			// Our own folder inside somebody's project should not show up among their changes.
			if (basename(folder) === ".holdfast") writeFileSync(join(folder, ".gitignore"), "*\n");
		}
		return sqliteHost(path);
	} catch (error) {
		const message = error instanceof Error ? error.message : String(error);
		throw new UsageError(
			`The database ${path} cannot be used. ${isHoldfastError(error) ? message : `${message}.`}`,
		);
	}
}

/** Opens the database only if it is there: looking at sessions makes no file. */
export async function openExisting(path: string): Promise<Host | undefined> {
	return isPostgres(path) || existsSync(path) ? openDatabase(path) : undefined;
}
