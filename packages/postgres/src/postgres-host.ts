// The host in Postgres: all ports over one store.
import { HoldfastTypeError } from "@holdfast/upp";
import type { Host } from "holdfast";
import { journalExecution } from "holdfast/execution-host";
import { postgresQueue } from "./dispatch/index.ts";
import { lockSpace } from "./migrate.ts";
import { type PostgresHostOptions, resolveOptions } from "./options.ts";
import { postgresChanges } from "./postgres-changes.ts";
import { postgresFiles } from "./postgres-files.ts";
import { type PostgresJournal, postgresJournal } from "./postgres-journal.ts";
import { postgresRecords } from "./postgres-records.ts";
import { postgresRuns } from "./postgres-runs.ts";
import { postgresStats } from "./postgres-stats.ts";
import { postgresTimers } from "./postgres-timers.ts";
import { postgresValues } from "./postgres-values.ts";
import { makeStore } from "./store.ts";

type Execution = ReturnType<typeof journalExecution>;

/** A host in a Postgres database: its sessions, and everything that an execution host stores with them. */
export interface PostgresHost extends Omit<Required<Host>, keyof Execution | "journal">, Execution {
	/** The sessions. */
	readonly journal: PostgresJournal;
	/** The execution host over the same database. */
	readonly execution: Execution;
	/** Whether background work survives the process. */
	readonly capabilities: Execution["capabilities"];
}

/**
 * Creates a host whose sessions are stored in a Postgres database, which any number of processes and machines can share.
 * It connects on first use and creates missing tables.
 * @throws HoldfastError `invalid_option` at once. Calls reject with `db_unavailable` if the server is unavailable for
 * longer than `patienceMs`, `journal_unavailable` if it refuses the user or the database, `journal_newer`,
 * `journal_outdated`, `journal_foreign`, `disk_full`, `journal_failed`.
 * @example
 * ```ts
 * import { agent } from "holdfast";
 * import { postgresHost } from "@holdfast/postgres";
 *
 * const host = postgresHost({ connectionString: "postgres://app@db.internal/app" });
 * const helper = agent({ host, instructions: "You help." });
 * await host.close();
 * ```
 */
export function postgresHost(options: PostgresHostOptions): PostgresHost {
	if (typeof options !== "object" || options === null)
		throw new HoldfastTypeError(
			"invalid_option",
			"postgresHost() takes options: `postgresHost({ connectionString })` or `postgresHost({ pool })`.",
		);
	const resolved = resolveOptions(options);
	const store = makeStore(resolved);
	const journal = postgresJournal(store);
	const records = postgresRecords(store);
	const runs = postgresRuns(store);
	const queue = postgresQueue(store, lockSpace(resolved.schema));
	const capabilities = { backgroundSubagents: "durable" } as const;
	const execution = journalExecution({ journal, records, runs, capabilities, clock: options.clock });
	const ports = {
		journal,
		capabilities,
		values: postgresValues(store),
		records,
		files: postgresFiles(store),
		timers: postgresTimers(store),
		changes: postgresChanges(store),
		runs,
		queue,
		stats: postgresStats(store, journal),
	};
	return {
		...ports,
		...execution,
		execution,
		async close() {
			await queue.close();
			await journal.close();
		},
	};
}
