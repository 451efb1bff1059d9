// Finds the runs of a store by its indexes.
import { fromStored, type RunIndex, toStored } from "holdfast/host";
import type { Store } from "./store.ts";

interface RunRow {
	readonly place: string;
	readonly first: number | null;
	readonly ended: number | null;
}

/** The runs of a store, as its worker sees them. */
export function postgresRuns(store: Store): RunIndex {
	const { database, schema, workerId, ready } = store;
	return {
		async locate(runId) {
			await ready();
			const stored = toStored(runId);
			const [row] = await database.query<RunRow>(
				`SELECT s.key AS place, min(e.seq) AS first, min(e.seq) FILTER (WHERE e.kind = 'run.ended') AS ended
					FROM ${schema}.entries e JOIN ${schema}.sessions s ON s.id = e.session AND e.seq >= s.first_seq
					WHERE e.run_id = $1 AND e.kind IN ('run.started', 'run.ended') GROUP BY s.id, s.key ORDER BY s.id LIMIT 1`,
				[stored],
			);
			if (row !== undefined) {
				const { place, first, ended } = row;
				return {
					place: fromStored(place),
					first: first as number,
					...(ended === null ? {} : { ended }),
				};
			}
			const [waiting] = await database.query<RunRow>(
				`SELECT s.key AS place FROM ${schema}.inputs i JOIN ${schema}.sessions s ON s.id = i.session
					WHERE i.run_id = $1 AND i.kind = 'message' LIMIT 1`,
				[stored],
			);
			return waiting && { place: fromStored(waiting.place) };
		},
		async unfinishedRuns() {
			await ready();
			const rows = await database.query<{ id: string }>(
				`SELECT open_run AS id FROM ${schema}.sessions WHERE open_run IS NOT NULL AND look_at IS NULL
					UNION SELECT open_run FROM ${schema}.sessions WHERE look_at IS NOT NULL
					UNION SELECT run_id FROM ${schema}.inputs WHERE kind = 'message' AND run_id IS NOT NULL`,
			);
			return rows.map(({ id }) => fromStored(id));
		},
		// Every worker that has written sends heartbeats.
		isDead: async (other) => other !== workerId && !(await store.isAlive(toStored(other))),
	};
}
