/** Opens the database of the sessions; what cannot be opened is a matter of usage, said in one line. */
import { existsSync, mkdirSync, statSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { type Host, isHoldfastError } from "holdfast";
import { sqliteHost } from "holdfast/sqlite";
import { UsageError } from "./usage-error.ts";

/**
 * Opens or makes the database.
 * @throws UsageError when it cannot be used.
 */
export function openDatabase(path: string): Host {
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
export function openExisting(path: string): Host | undefined {
	return existsSync(path) ? openDatabase(path) : undefined;
}
