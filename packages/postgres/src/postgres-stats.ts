// Statistics of a store in Postgres: those of its queue cover the whole store, the others this process. They are
// requested rarely, so each request may cost an index scan of the due sessions.
import type { StoreStats } from "holdfast/host";
import { jobSchemaOf } from "./dispatch/index.ts";
import { postgresError } from "./postgres-errors.ts";
import type { PostgresJournal } from "./postgres-journal.ts";
import type { Store } from "./store.ts";

/** Maximum number of jobs counted. */
const most = 100_000;

/** The numbers of a store. */
export function postgresStats(store: Store, journal: PostgresJournal): () => Promise<StoreStats> {
	const jobs = `${jobSchemaOf(store.schema)}._private_jobs`;
	// A passed deadline becomes a job only when a process that takes work creates it. The time of a job that is due at
	// once is its turn, not a clock time: it has been due since it was created.
	const count = `SELECT count(*) AS queued, coalesce(extract(epoch FROM now() - min(since)) * 1000, 0)::float8 AS age
		FROM (SELECT greatest(run_at, created_at) AS since FROM ${jobs} WHERE is_available = true AND run_at <= now()
			UNION ALL SELECT to_timestamp(look_at / 1000.0) FROM ${store.schema}.sessions s
				WHERE look_at <= extract(epoch FROM now()) * 1000 AND NOT EXISTS (
					SELECT FROM ${jobs} j WHERE j.key = 'now:' || s.digest::text)
			LIMIT ${most}) due`;
	return async () => {
		await store.ready();
		try {
			// No process has taken work yet, so the queue does not exist.
			const [found] = await store.database.once<{ there: boolean }>(
				"SELECT to_regclass($1) IS NOT NULL AS there",
				[jobs],
			);
			const [due] =
				found?.there === true ? await store.database.once<{ queued: number; age: number }>(count) : [];
			return {
				queued: due?.queued ?? 0,
				oldestDueMs: Math.max(0, Math.round(due?.age ?? 0)),
				leases: store.held.size,
				takeovers: journal.takeovers,
				commits: journal.transactions,
			};
		} catch (error) {
			throw postgresError(error);
		}
	};
}
