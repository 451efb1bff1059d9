/** Reads a journal's file as a dump: all reachable data, in batches. */
import { type DumpBatch, type DumpTable, dumpTables, type StoreDump } from "holdfast/host";
import type { JournalFile } from "holdfast/sqlite";

/** Rows read at a time; file pieces have up to 256 KiB each. */
const atOnce: Partial<Record<DumpTable, number>> = { sessions: 1_000, dedupe: 1_000, pieces: 16 };

/** Partly copied or partly removed sessions have keys that start with a quotation mark. */
const seen = "substr(s.key, 1, 1) <> '\"'";
const ofSession = (alias: string): string => `JOIN sessions s ON s.id = ${alias}.session AND ${seen}`;
/** Rows that were folded but not removed yet are unreachable. */
const firstSeq = "ifnull((SELECT m.value FROM meta m WHERE m.name = 'folded ' || CAST(s.id AS INTEGER)), 0)";

const queries: Readonly<Record<DumpTable, string>> = {
	sessions: `SELECT s.id, s.key, ifnull(s.incarnation, s.id || '-' || s.created_at) AS incarnation, s.epoch, s.open_run AS openRun,
		s.look_at AS lookAt,
		ifnull((SELECT e.seq FROM entries e WHERE e.session = s.id AND e.seq >= ${firstSeq} AND e.kind = 'folded' ORDER BY e.seq LIMIT 1), 0) AS firstSeq,
		ifnull((SELECT max(e.seq) FROM entries e WHERE e.session = s.id), 0) AS seq,
		(SELECT e.kind FROM entries e WHERE e.session = s.id ORDER BY e.seq DESC LIMIT 1) AS lastKind,
		s.inputs, (SELECT count(*) FROM inputs i WHERE i.session = s.id) AS waiting, s.created_at AS createdAt,
		max(s.updated_at, ifnull((SELECT e.at FROM entries e WHERE e.session = s.id ORDER BY e.seq DESC LIMIT 1), 0)) AS updatedAt
		FROM sessions s WHERE ${seen} ORDER BY s.id`,
	entries: `SELECT e.session, e.seq, (SELECT r.run_id FROM entries r WHERE r.id = ifnull(e.run, e.id)) AS run, e.kind, e.version,
		e.at, e.body FROM sessions s CROSS JOIN entries e ON e.session = s.id AND e.seq >= ${firstSeq}
		WHERE ${seen} ORDER BY s.id, e.seq`,
	chunks: `SELECT c.session, c.seq, c.sub, c.body FROM sessions s CROSS JOIN chunks c ON c.session = s.id AND c.seq >= ${firstSeq}
		WHERE ${seen} ORDER BY s.id, c.seq, c.sub`,
	inputs: `SELECT i.session, i.position, i.id, i.kind, i.run_id AS run, i.dedupe_key AS dedupeKey, i.worker, i.at, i.body
		FROM inputs i ${ofSession("i")} ORDER BY i.session, i.position`,
	dedupe: `SELECT d.session, d.key, d.position FROM dedupe d ${ofSession("d")} ORDER BY d.session, d.key`,
	values: `SELECT v.session, v.owner, v.name, v.value AS body FROM session_values v ${ofSession("v")}
		ORDER BY v.session, v.owner, v.name`,
	timers: `SELECT t.session, t.name, t.wake_at AS wakeAt, t.attempt, t.body FROM timers t ${ofSession("t")}
		ORDER BY t.session, t.name`,
	files: `SELECT f.id, f.session, f.owner, f.name, f.size, f.at FROM files f ${ofSession("f")} ORDER BY f.id`,
	pieces: `SELECT f.id AS file, p.id - f.id * 16777216 AS piece, p.bytes
		FROM files f ${ofSession("f")} CROSS JOIN file_pieces p
		ON p.id >= f.id * 16777216 AND p.id < (f.id + 1) * 16777216 ORDER BY p.id`,
	records: "SELECT shelf, name, revision, body FROM records ORDER BY shelf, name",
};

/** Creates the dump of an open file. The caller's transaction makes it one snapshot. */
export function dumpFile({ database }: JournalFile): StoreDump {
	const meta = database.prepare("SELECT value FROM meta WHERE name = 'highest_deleted_epoch'").get();
	return {
		highestDeletedEpoch: (meta as { value: number } | undefined)?.value ?? 0,
		async *rows() {
			for (const table of dumpTables) {
				let rows: never[] = [];
				for (const row of database.prepare(queries[table]).iterate()) {
					rows.push(row as never);
					if (rows.length < (atOnce[table] ?? 500)) continue;
					yield { table, rows };
					rows = [];
				}
				if (rows.length > 0) yield { table, rows } satisfies DumpBatch;
			}
		},
	};
}
