// The whole content of a store, table by table, in a form that each kind of store can export and import, to move it to
// another store or to examine it. Keys, ids and names are in stored form (`toStored`), bodies are JSON text. Workers,
// leases and claims belong to a location and are not included, nor are the positions of changes.

/** The rows of the tables in every store's dump. Sessions and files have the numbers of their store. */
export interface DumpTables {
	readonly sessions: {
		readonly id: number;
		readonly key: string;
		readonly incarnation: string;
		readonly epoch: number;
		readonly openRun: string | null;
		/** The time when a waiting or parked run is next due. */
		readonly lookAt: number | null;
		/** Seq of the entry that represents those before it; else 0. */
		readonly firstSeq: number;
		readonly seq: number;
		readonly lastKind: string | null;
		/** How many inputs have come, and how many of them wait. */
		readonly inputs: number;
		readonly waiting: number;
		readonly createdAt: number;
		readonly updatedAt: number;
	};
	readonly entries: {
		readonly session: number;
		readonly seq: number;
		readonly run: string;
		readonly kind: string;
		readonly version: number;
		readonly at: number;
		readonly body: string;
	};
	readonly chunks: {
		readonly session: number;
		readonly seq: number;
		readonly sub: number;
		readonly body: string;
	};
	readonly inputs: {
		readonly session: number;
		readonly position: number;
		readonly id: string;
		readonly kind: string;
		readonly run: string | null;
		readonly dedupeKey: string | null;
		/** The worker that accepted it, which is dead by the time it is read elsewhere. */
		readonly worker: string | null;
		readonly at: number;
		readonly body: string;
	};
	readonly dedupe: { readonly session: number; readonly key: string; readonly position: number };
	readonly values: {
		readonly session: number;
		readonly owner: string;
		readonly name: string;
		readonly body: string;
	};
	readonly timers: {
		readonly session: number;
		readonly name: string;
		readonly wakeAt: number;
		readonly attempt: number;
		readonly body: string | null;
	};
	readonly files: {
		readonly id: number;
		readonly session: number;
		readonly owner: string;
		readonly name: string;
		readonly size: number;
		readonly at: number;
	};
	readonly pieces: { readonly file: number; readonly piece: number; readonly bytes: Uint8Array };
	readonly records: {
		readonly shelf: string;
		readonly name: string;
		readonly revision: number;
		readonly body: string;
	};
}

/** A table of a dump. */
export type DumpTable = keyof DumpTables;

/** The tables in the order in which their rows come. */
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

/** One moment of a store. */
export interface StoreDump {
	/** Sessions to come have higher epochs. */
	readonly highestDeletedEpoch: number;
	/** Rows in batches of a bounded size, table by table; of one session, entries in their order. */
	rows(): AsyncIterable<DumpBatch>;
}

/** How many rows there are of a table, and how many bytes their bodies have. */
export interface TableSize {
	readonly rows: number;
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

/** The first table in which two sizes differ; undefined if they are equal. */
export function differsIn(one: StoreSize, other: StoreSize): DumpTable | undefined {
	return dumpTables.find(
		(table) => one[table].rows !== other[table].rows || one[table].bytes !== other[table].bytes,
	);
}
