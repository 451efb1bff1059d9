// Entry point of the schema: its numbered steps. A released step never changes; new ones are added at the end.
import { hostRoutines, setsValuesOfFoundSessions } from "./host-routines.ts";
import { journalRoutines } from "./journal-routines.ts";
import { tables } from "./tables.ts";

/** A migration step. */
export interface Migration {
	readonly sql: (schema: string) => string;
	/** The lowest step that a release must know to work alongside a release with this step. */
	readonly needs: number;
}

/** All steps, in order; the first has number 1. */
export const migrations: readonly Migration[] = [
	{ sql: (schema) => tables(schema) + journalRoutines(schema) + hostRoutines(schema), needs: 1 },
	// Up to version 17, a plan that must scan a table without an index, although such scans are off, has a very high
	// cost. The database therefore JIT-compiles it on every execution.
	{ sql: (schema) => `ALTER FUNCTION ${schema}.apply_v1 SET jit = off;`, needs: 1 },
	{ sql: setsValuesOfFoundSessions, needs: 1 },
];
