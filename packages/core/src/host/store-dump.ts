// The whole content of a store, table by table, in a form that each kind of store can export and import, to move it to
// another store or to examine it. Keys, ids and names are in stored form (`toStored`), bodies are JSON text. Workers,
// leases, claims and the positions of changes are not included, because they belong to one store.

/** The rows of the tables in every store's dump. Sessions and files have their store's numbers. */
export interface DumpTables {
	/** One row per session. */
	readonly sessions: {
		readonly id: number;
		readonly key: string;
		readonly incarnation: string;
		readonly epoch: number;
		readonly openRun: string | null;
		/** The time when a waiting or parked run is next due. */
		readonly lookAt: number | null;
		/** Seq of the entry that replaces those before it; otherwise 0. */
		readonly firstSeq: number;
		readonly seq: number;
		readonly lastKind: string | null;
		/** How many inputs have arrived, and how many of them wait. */
		readonly inputs: number;
		readonly waiting: number;
		readonly createdAt: number;
		readonly updatedAt: number;
	};
	/** One row per fact. */
	readonly entries: {
		readonly session: number;
		readonly seq: number;
		readonly run: string;
		readonly kind: string;
		readonly version: number;
		readonly at: number;
		readonly body: string;
	};
	/** One row per piece of streamed output. */
	readonly chunks: {
		readonly session: number;
		readonly seq: number;
		readonly sub: number;
		readonly body: string;
	};
	/** The inputs that wait. */
	readonly inputs: {
		readonly session: number;
		readonly position: number;
		readonly id: string;
		readonly kind: string;
		readonly run: string | null;
		readonly dedupeKey: string | null;
		/** The worker that accepted it, which counts as dead by the time another store reads it. */
		readonly worker: string | null;
		readonly at: number;
		readonly body: string;
	};
	/** The deduplication keys of inputs. */
	readonly dedupe: { readonly session: number; readonly key: string; readonly position: number };
	/** The values of sessions. */
	readonly values: {
		readonly session: number;
		readonly owner: string;
		readonly name: string;
		readonly body: string;
	};
	/** The timers of sessions. */
	readonly timers: {
		readonly session: number;
		readonly name: string;
		readonly wakeAt: number;
		readonly attempt: number;
		readonly body: string | null;
	};
	/** The files of sessions, without content. */
	readonly files: {
		readonly id: number;
		readonly session: number;
		readonly owner: string;
		readonly name: string;
		readonly size: number;
		readonly at: number;
	};
	/** The content of the files. */
	readonly pieces: { readonly file: number; readonly piece: number; readonly bytes: Uint8Array };
	/** Data in addition to the sessions, such as the runs of an execution host. */
	readonly records: {
		readonly shelf: string;
		readonly name: string;
		readonly revision: number;
		readonly body: string;
	};
}

/** A table of a dump. */
export type DumpTable = keyof DumpTables;

/** The tables in the order of their rows in a dump. */
export const dumpTables: readonly DumpTable[] = [
	"sessions",
	"entries",
	"chunks",
	"inputs",
	"dedupe",
	"values",
	"timers",
	"files",
	"pieces",
	"records",
];

/** Some rows of one table. */
export type DumpBatch = {
	[Table in DumpTable]: { readonly table: Table; readonly rows: readonly DumpTables[Table][] };
}[DumpTable];

/** A snapshot of a store. */
export interface StoreDump {
	/** New sessions get higher epochs. */
	readonly highestDeletedEpoch: number;
	/** Yields rows in batches of a bounded size, table by table. The entries of a session are in order. */
	rows(): AsyncIterable<DumpBatch>;
}

/** The number of rows of a table, and the bytes of their bodies. */
export interface TableSize {
	/** How many rows it has. */
	readonly rows: number;
	/** The size of their bodies in UTF-8. */
	readonly bytes: number;
}

/** The size of a whole store. */
export type StoreSize = Readonly<Record<DumpTable, TableSize>>;

const encoder = new TextEncoder();

/** Counts rows as they pass. */
export class StoreScale {
	readonly #sizes = Object.fromEntries(dumpTables.map((table) => [table, { rows: 0, bytes: 0 }])) as Record<
		DumpTable,
		{ rows: number; bytes: number }
	>;

	/** Counts a batch. */
	add({ table, rows }: DumpBatch): void {
		const size = this.#sizes[table];
		size.rows += rows.length;
		for (const row of rows) {
			if ("bytes" in row) size.bytes += row.bytes.length;
			else if ("body" in row && row.body !== null) size.bytes += byteLength(row.body);
		}
	}

	/** The count so far. */
	get size(): StoreSize {
		return this.#sizes;
	}
}

function byteLength(text: string): number {
	return encoder.encode(text).length;
}

/** Returns the first table in which two sizes differ; undefined if they are equal. */
export function differsIn(one: StoreSize, other: StoreSize): DumpTable | undefined {
	return dumpTables.find(
		(table) => one[table].rows !== other[table].rows || one[table].bytes !== other[table].bytes,
	);
}
