// Maps the tables of a store in Postgres to those of a dump: what to read from each, and what to write.
import type { DumpTable, DumpTables } from "holdfast/host";
import { digest } from "../digest.ts";

/** A column, its type, and its value in a row. */
interface Column<Row> {
	readonly name: string;
	readonly type: string;
	of(row: Row): unknown;
}

interface TableOfDump<Row> {
	/** Selects its rows in dump form. */
	read(schema: string): string;
	/** Rows read at a time. */
	readonly atOnce: number;
	readonly table: string;
	/** The column whose size is counted in `bytes`. */
	readonly body?: string;
	readonly columns: readonly Column<Row>[];
}

function column<Row>(name: string, type: string, of: (row: Row) => unknown): Column<Row> {
	return { name, type, of };
}

type Row<Table extends DumpTable> = DumpTables[Table];

const inReach = (schema: string, alias: string): string =>
	`JOIN ${schema}.sessions s ON s.id = ${alias}.session AND ${alias}.seq >= s.first_seq`;

/** The tables by their names in a dump. */
export const tablesOfDump: { readonly [Table in DumpTable]: TableOfDump<Row<Table>> } = {
	sessions: {
		read: (
			schema,
		) => `SELECT id, key, incarnation, epoch, open_run AS "openRun", look_at AS "lookAt", first_seq AS "firstSeq",
			seq, last_kind AS "lastKind", inputs, waiting, created_at AS "createdAt", updated_at AS "updatedAt"
			FROM ${schema}.sessions ORDER BY id`,
		atOnce: 1_000,
		table: "sessions",
		columns: [
			column("id", "bigint", ({ id }) => id),
			column("digest", "uuid", ({ key }) => digest(key)),
			column("key", "text", ({ key }) => key),
			column("incarnation", "text", ({ incarnation }) => incarnation),
			column("epoch", "bigint", ({ epoch }) => epoch),
			column("open_run", "text", ({ openRun }) => openRun),
			column("look_at", "bigint", ({ lookAt }) => lookAt),
			column("first_seq", "bigint", ({ firstSeq }) => firstSeq),
			column("seq", "bigint", ({ seq }) => seq),
			column("last_kind", "text", ({ lastKind }) => lastKind),
			column("inputs", "bigint", ({ inputs }) => inputs),
			column("waiting", "bigint", ({ waiting }) => waiting),
			// A reader that follows the new store's changes from the start meets each session once.
			column("changed", "bigint", ({ id }) => id),
			column("created_at", "bigint", ({ createdAt }) => createdAt),
			column("updated_at", "bigint", ({ updatedAt }) => updatedAt),
		],
	},
	entries: {
		read: (schema) => `SELECT e.session, e.seq, e.run_id AS run, e.kind, e.version, e.at, e.body
			FROM ${schema}.entries e ${inReach(schema, "e")} ORDER BY e.session, e.seq`,
		atOnce: 500,
		table: "entries",
		body: "body",
		columns: [
			column("session", "bigint", ({ session }) => session),
			column("seq", "bigint", ({ seq }) => seq),
			column("run_id", "text", ({ run }) => run),
			column("kind", "text", ({ kind }) => kind),
			column("version", "integer", ({ version }) => version),
			column("at", "bigint", ({ at }) => at),
			column("body", "text", ({ body }) => body),
		],
	},
	chunks: {
		read: (schema) => `SELECT c.session, c.seq, c.sub, c.body FROM ${schema}.chunks c ${inReach(schema, "c")}
			ORDER BY c.session, c.seq, c.sub`,
		atOnce: 500,
		table: "chunks",
		body: "body",
		columns: [
			column("session", "bigint", ({ session }) => session),
			column("seq", "bigint", ({ seq }) => seq),
			column("sub", "bigint", ({ sub }) => sub),
			column("body", "text", ({ body }) => body),
		],
	},
	inputs: {
		read: (
			schema,
		) => `SELECT session, position, id, kind, run_id AS run, dedupe_key AS "dedupeKey", worker, at, body
			FROM ${schema}.inputs ORDER BY session, position`,
		atOnce: 500,
		table: "inputs",
		body: "body",
		columns: [
			column("session", "bigint", ({ session }) => session),
			column("position", "bigint", ({ position }) => position),
			column("id", "text", ({ id }) => id),
			column("kind", "text", ({ kind }) => kind),
			column("run_id", "text", ({ run }) => run),
			column("dedupe_key", "text", ({ dedupeKey }) => dedupeKey),
			column("worker", "text", ({ worker }) => worker),
			column("at", "bigint", ({ at }) => at),
			column("body", "text", ({ body }) => body),
		],
	},
	dedupe: {
		read: (schema) => `SELECT d.session, d.key, d.position FROM ${schema}.dedupe d
			JOIN ${schema}.sessions s ON s.id = d.session ORDER BY d.session, d.digest`,
		atOnce: 1_000,
		table: "dedupe",
		columns: [
			column("session", "bigint", ({ session }) => session),
			column("digest", "uuid", ({ key }) => digest(key)),
			column("key", "text", ({ key }) => key),
			column("position", "bigint", ({ position }) => position),
		],
	},
	values: {
		read: (schema) =>
			`SELECT session, owner, name, value AS body FROM ${schema}.session_values ORDER BY session, digest`,
		atOnce: 500,
		table: "session_values",
		body: "value",
		columns: [
			column("session", "bigint", ({ session }) => session),
			column("digest", "uuid", ({ owner, name }) => digest(owner, name)),
			column("owner", "text", ({ owner }) => owner),
			column("name", "text", ({ name }) => name),
			column("value", "text", ({ body }) => body),
		],
	},
	timers: {
		read: (schema) => `SELECT session, name, wake_at AS "wakeAt", attempt, body FROM ${schema}.timers
			ORDER BY session, digest`,
		atOnce: 500,
		table: "timers",
		body: "body",
		columns: [
			column("session", "bigint", ({ session }) => session),
			column("digest", "uuid", ({ name }) => digest(name)),
			column("name", "text", ({ name }) => name),
			column("wake_at", "bigint", ({ wakeAt }) => wakeAt),
			column("due_at", "bigint", ({ wakeAt }) => wakeAt),
			column("attempt", "integer", ({ attempt }) => attempt),
			column("body", "text", ({ body }) => body),
		],
	},
	files: {
		read: (schema) =>
			`SELECT id, session, owner, name, size, at FROM ${schema}.files WHERE session IS NOT NULL ORDER BY id`,
		atOnce: 1_000,
		table: "files",
		columns: [
			column("id", "bigint", ({ id }) => id),
			column("session", "bigint", ({ session }) => session),
			column("digest", "uuid", ({ owner, name }) => digest(owner, name)),
			column("owner", "text", ({ owner }) => owner),
			column("name", "text", ({ name }) => name),
			column("size", "bigint", ({ size }) => size),
			column("at", "bigint", ({ at }) => at),
		],
	},
	pieces: {
		read: (schema) => `SELECT p.file, p.piece, p.bytes FROM ${schema}.file_pieces p
			JOIN ${schema}.files f ON f.id = p.file AND f.session IS NOT NULL ORDER BY p.file, p.piece`,
		atOnce: 16,
		table: "file_pieces",
		body: "bytes",
		columns: [
			column("file", "bigint", ({ file }) => file),
			column("piece", "bigint", ({ piece }) => piece),
			column("bytes", "bytea", ({ bytes }) => Buffer.from(bytes)),
		],
	},
	records: {
		read: (schema) => `SELECT shelf, name, revision, body FROM ${schema}.records ORDER BY digest`,
		atOnce: 500,
		table: "records",
		body: "body",
		columns: [
			column("digest", "uuid", ({ shelf, name }) => digest(shelf, name)),
			column("shelf", "text", ({ shelf }) => shelf),
			column("name", "text", ({ name }) => name),
			column("revision", "bigint", ({ revision }) => revision),
			column("body", "text", ({ body }) => body),
		],
	},
};
