// The changes of a store. A position derives from the id of the transaction that committed the change, so positions are
// assigned before the commit, and not in the order of commits. A reader therefore only receives those below the oldest
// running transaction, after which no earlier ones can appear; it waits briefly for later ones.
import { type Change, type ChangeLog, changesAtOnce, changesExpired, fromStored } from "holdfast/host";
import { pause } from "./database.ts";
import type { Store } from "./store.ts";

interface Row {
	readonly position: number;
	readonly key: string;
	readonly incarnation: string;
	readonly seq: number;
	readonly kind: Change["kind"];
	readonly safe: number;
}

/** Milliseconds that a reader waits for older transactions. */
const patience = 2_000;

/** The statements that read changes. */
export function changeStatements(schema: string): {
	readonly last: string;
	readonly read: string;
	readonly expired: string;
} {
	const safe = `(SELECT value + pg_snapshot_xmin(pg_current_snapshot())::text::bigint * 8192
		FROM ${schema}.meta WHERE name = 'position_base')`;
	const ends = `SELECT max(position) AS position FROM ${schema}.entries WHERE position IS NOT NULL
		UNION ALL SELECT max(changed) FROM ${schema}.sessions WHERE changed IS NOT NULL
		UNION ALL SELECT max(position) FROM ${schema}.removed_sessions`;
	return {
		last: `SELECT coalesce(max(position), 0) AS position, ${safe} AS safe FROM (${ends}) ends`,
		// Only the last change of each session.
		read: `SELECT c.*, ${safe} AS safe FROM (
			(SELECT e.position, s.key, s.incarnation, e.seq, 'appended' AS kind
				FROM ${schema}.entries e CROSS JOIN LATERAL (SELECT * FROM ${schema}.sessions WHERE id = e.session OFFSET 0) s
				WHERE e.position > $1 AND s.seq = e.seq AND e.position > coalesce(s.changed, 0) ORDER BY e.position LIMIT $2)
			UNION ALL
			(SELECT s.changed, s.key, s.incarnation, s.seq, 'changed' FROM ${schema}.sessions s
				LEFT JOIN LATERAL (SELECT position FROM ${schema}.entries WHERE session = s.id AND seq = s.seq OFFSET 0) e ON true
				WHERE s.changed > $1 AND s.changed > coalesce(e.position, 0) ORDER BY s.changed LIMIT $2)
			UNION ALL
			(SELECT position, key, incarnation, seq, 'deleted' FROM ${schema}.removed_sessions
				WHERE position > $1 AND $1 > 0 ORDER BY position LIMIT $2)
			) c ORDER BY c.position LIMIT $2`,
		expired: `SELECT number > 1 AND position > $1 AS expired FROM ${schema}.removed_sessions ORDER BY number LIMIT 1`,
	};
}

/** The changes of a store. */
export function postgresChanges({ database, schema, feed, ready }: Store): ChangeLog {
	const { last, read, expired } = changeStatements(schema);

	/** Reads until no earlier change can appear before those seen first, or until the time limit. */
	async function settled<T extends { readonly position: number; readonly safe: number }>(
		ask: () => Promise<T[]>,
	): Promise<T[]> {
		const until = performance.now() + patience;
		let highest: number | undefined;
		for (let attempt = 0; ; attempt++) {
			const rows = await ask();
			const safe = rows[0]?.safe ?? 0;
			highest ??= rows.at(-1)?.position ?? 0;
			if (highest < safe || rows.length === 0 || performance.now() > until) return rows;
			await pause(Math.min(attempt, 2));
		}
	}

	return {
		async position() {
			await ready();
			const [row] = await settled(() => database.query<Pick<Row, "position" | "safe">>(last));
			return Math.min(row?.position ?? 0, (row?.safe ?? 1) - 1);
		},
		async read({ after = 0, limit = changesAtOnce } = {}) {
			await ready();
			if (after > 0) {
				const [first] = await database.query<{ expired: boolean }>(expired, [after]);
				if (first?.expired === true) throw changesExpired(after);
			}
			const rows = await settled(() => database.query<Row>(read, [after, limit]));
			return rows
				.filter(({ position, safe }) => position < safe)
				.map(({ position, key, incarnation, seq, kind }) => ({
					position,
					key: fromStored(key),
					incarnation,
					seq,
					kind,
				}));
		},
		watch: (changed) => feed.watchAll(changed),
	};
}
