// Entry point `holdfast/sql`: a host over any synchronous connection to a SQLite database that one instance of a program
// uses exclusively. It does not use Node APIs.
import { checkOptions, optionNames } from "@holdfast/upp";
import type { OwnExecutionHost } from "./execution-host/in-memory.ts";
import { journalExecution } from "./execution-host/over-journal/journal-execution.ts";
import { never } from "./facts/look-at.ts";
import type { FileLimits } from "./host/files.ts";
import type { Host } from "./host/host-port.ts";
import type {
	SqlConnection,
	SqlOutcome,
	SqlParameter,
	SqlParameters,
	SqlStatement,
} from "./sqlite/connection.ts";
import {
	announced,
	commitsInInstance,
	type Instance,
	makeInstance,
	registerInInstance,
} from "./sqlite/one-instance.ts";
import { type SqlJournal, sqlJournal } from "./sqlite/sql-journal.ts";
import { migrateJournal } from "./sqlite/sql-migrations.ts";

const sqlHostNames = optionNames<SqlHostOptions>({
	connection: "object",
	name: "text",
	instance: "object",
	clock: "object",
	files: "object",
	workerId: "text",
});

export {
	type Instance,
	makeInstance,
	type SqlConnection,
	type SqlJournal,
	type SqlOutcome,
	type SqlParameter,
	type SqlParameters,
	type SqlStatement,
};

/** Options of `sqlHost`. */
export interface SqlHostOptions {
	/** The database. No other process writes to it. */
	readonly connection: SqlConnection;
	/** A name for messages. Default `sql`. */
	readonly name?: string;
	/**
	 * The other hosts of the same database in this program: hosts that share an instance see each other as alive.
	 * Default: none.
	 */
	readonly instance?: Instance;
	/** The clock for sessions, inputs and timers, in milliseconds since the epoch. Default: the system's. */
	readonly clock?: { now(): number };
	/** Size limits of files stored with the sessions, in bytes. Default: no limit. */
	readonly files?: FileLimits;
	/** Name of this worker, unique within the instance. Default: a random one. */
	readonly workerId?: string;
}

/** A host in a SQLite database: its sessions, and everything that an execution host stores with them. */
export interface SqlHost
	extends Omit<Required<Host>, keyof OwnExecutionHost | "queue" | "stats">,
		OwnExecutionHost {
	/** The sessions. */
	readonly journal: SqlJournal;
	/** The execution host over the same database. */
	readonly execution: OwnExecutionHost;
	/** Whether background work survives the process. */
	readonly capabilities: OwnExecutionHost["capabilities"];
	/**
	 * Returns when a session is next due without a request, because of a deadline of a waiting run or a timer, in
	 * milliseconds since the epoch. Undefined: never.
	 */
	nextDue(): number | undefined;
}

/**
 * Creates a host over a connection. Its tables are created or migrated as needed.
 * @throws HoldfastError `journal_newer` if a newer release has written the database, which is not changed.
 */
export function sqlHost(options: SqlHostOptions): SqlHost {
	checkOptions(options, sqlHostNames, { of: "sqlHost()" });
	const {
		connection,
		name = "sql",
		instance = makeInstance(),
		clock,
		files = {},
		workerId = globalThis.crypto.randomUUID(),
	} = options;
	migrateJournal(connection, name);
	const time = clock ?? { now: () => Date.now() };
	const journal = sqlJournal({
		name,
		connection: announced(connection, instance, workerId),
		workerId,
		clock: time,
		files,
		register: (statements) => registerInInstance({ instance, workerId, clock: time, statements }),
		commitsOfOthers: commitsInInstance(instance, workerId),
	});
	const { values, records, files: kept, timers, changes, runs } = journal;
	const capabilities = { backgroundSubagents: "durable" } as const;
	const execution = journalExecution({ journal, records, runs, capabilities, clock });
	const ports = { journal, capabilities, values, records, files: kept, timers, changes, runs };
	const deadlines = connection.prepare(
		"SELECT min(at) AS at FROM (SELECT min(look_at) AS at FROM sessions UNION SELECT min(due_at) FROM timers)",
	);
	return {
		...ports,
		...execution,
		execution,
		nextDue() {
			const { at } = deadlines.get() as { at: number | null };
			return at === null || at >= never ? undefined : at;
		},
		close: async () => journal.close(),
	};
}
