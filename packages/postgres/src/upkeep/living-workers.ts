// Lists the workers that currently use a store.
import { fromStored } from "holdfast/host";
import { openDatabase } from "../database.ts";
import { lockSpace, migrate } from "../migrate.ts";
import { type PostgresHostOptions, resolveOptions } from "../options.ts";

/** A process that uses a store: a worker, a server, or a program. */
export interface LivingWorker {
	/** Its `workerId`, by default a new id for each process. */
	readonly name: string;
	/** Number of its sessions with a run in flight. */
	readonly sessions: number;
}

/**
 * Returns the workers of a store with a current heartbeat, in the order of their names.
 * @throws HoldfastError `journal_foreign`, `journal_newer`, `db_unavailable` and the like.
 */
export async function livingWorkers(options: PostgresHostOptions): Promise<readonly LivingWorker[]> {
	const resolved = resolveOptions(options);
	const { schema } = resolved;
	const database = openDatabase(resolved);
	try {
		await migrate(database, schema);
		const rows = await database.query<LivingWorker>(
			`SELECT w.name, (SELECT count(*) FROM ${schema}.sessions s
					WHERE s.owner = w.id AND s.open_run IS NOT NULL AND s.look_at IS NULL) AS sessions
				FROM ${schema}.workers w WHERE ${schema}.lives_v1(w, ${lockSpace(schema)}) ORDER BY w.name`,
		);
		return rows.map(({ name, sessions }) => ({ name: fromStored(name), sessions }));
	} finally {
		await database.close();
	}
}
