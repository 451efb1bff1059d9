// Brings the tables of a journal up to date over any connection. How many steps were taken is in a table, for not every
// connection may set the file's own marks.
import type { SqlConnection } from "./connection.ts";
import { journalFile } from "./schema.ts";

/**
 * Takes the steps that are missing, in one transaction.
 * @throws HoldfastError `journal_newer` when a newer release has written the database, which is left alone.
 */
export function migrateJournal(connection: SqlConnection, name: string): void {
	const { migrations, newer } = journalFile;
	connection.atomically(() => {
		connection.exec("CREATE TABLE IF NOT EXISTS journal_version (version INTEGER NOT NULL) STRICT");
		const found = connection.prepare("SELECT version FROM journal_version").get() as
			| { version: number }
			| undefined;
		const version = found?.version ?? 0;
		if (version > migrations.length) throw newer(name, version, migrations.length);
		if (version === migrations.length) return;
		for (const step of migrations.slice(version)) connection.exec(step);
		connection.exec("DELETE FROM journal_version");
		connection.prepare("INSERT INTO journal_version (version) VALUES (?)").run(migrations.length);
	});
}
