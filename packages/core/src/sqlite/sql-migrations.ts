// Migrates the tables of a journal over any connection. The number of applied migrations is in a table, because not every
// connection may set the file's own marks.
import type { SqlConnection } from "./connection.ts";
import { journalFile } from "./schema.ts";

/**
 * Applies the missing migrations, in one transaction.
 * @throws HoldfastError `journal_newer` if a newer release has written the database, which is not changed.
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
