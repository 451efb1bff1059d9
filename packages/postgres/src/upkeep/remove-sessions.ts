// Removes sessions that are unchanged since they were read: the sessions of one call together, in one short transaction.
// Their rows become unreachable, and are deleted in batches when the journal sweeps.
import { fromStored, rememberedDeletions } from "holdfast/host";
import { digest } from "../digest.ts";
import { type PostgresHostOptions, resolveOptions } from "../options.ts";
import { upkeepConnection } from "./upkeep-connection.ts";

/** A session in the state in which it was read. */
export interface SeenStoreSession {
	/** Its key in stored form. */
	readonly key: string;
	/** Its epoch when it was read. */
	readonly epoch: number;
	/** Its last seq when it was read. */
	readonly seq: number;
	/** Time of its last commit, in milliseconds since the epoch. */
	readonly updatedAt: number;
}

/** Removes sessions of a store. */
export interface SessionRemover {
	/**
	 * Removes these sessions if all of them are unchanged, without open runs and queued inputs. Returns their runs that
	 * are in no other session; undefined if nothing was removed.
	 */
	remove(sessions: readonly SeenStoreSession[]): Promise<readonly string[] | undefined>;
	/** Closes the connections. */
	close(): Promise<void>;
}

interface SessionRow {
	readonly id: number;
	readonly key: string;
	readonly epoch: number;
	readonly seq: number;
	readonly updated_at: number;
	readonly open_run: string | null;
	readonly waiting: number;
}

/** Creates a remover; the store's tables must exist. Its calls reject with the errors of a host. */
export function sessionRemover(options: PostgresHostOptions): SessionRemover {
	const resolved = resolveOptions(options);
	const { schema } = resolved;
	const connection = upkeepConnection(resolved);
	return {
		remove: (sessions) =>
			connection.transaction("short", async ({ query }) => {
				const digests = sessions.map(({ key }) => digest(key));
				const rows = await query<SessionRow>(
					`SELECT id, key, epoch, seq, updated_at, open_run, waiting FROM ${schema}.sessions
						WHERE digest = ANY ($1::uuid[]) ORDER BY digest FOR UPDATE`,
					[digests],
				);
				const found = new Map(rows.map((row) => [row.key, row]));
				if (!sessions.every((session) => isUnchanged(session, found.get(session.key)))) return undefined;
				const runs = await query<{ run: string }>(
					`SELECT DISTINCT e.run_id AS run FROM ${schema}.entries e WHERE e.session = ANY ($1::bigint[]) AND e.kind = 'run.started'
						AND NOT EXISTS (SELECT FROM ${schema}.entries o JOIN ${schema}.sessions s ON s.id = o.session
							WHERE o.run_id = e.run_id AND o.kind IN ('run.started', 'run.ended') AND o.session <> ALL ($1::bigint[]))`,
					[rows.map(({ id }) => id)],
				);
				await query(
					`SELECT ${schema}.remove_v1(jsonb_build_object('h', h, 'remember', $2::bigint),
						(SELECT value FROM ${schema}.meta WHERE name = 'position_base') + pg_current_xact_id()::text::bigint * 8192 + n)
						FROM unnest($1::uuid[]) WITH ORDINALITY x (h, n)`,
					[digests, 2 * rememberedDeletions],
				);
				return runs.map(({ run }) => fromStored(run));
			}),
		close: () => connection.close(),
	};
}

function isUnchanged(seen: SeenStoreSession, row: SessionRow | undefined): boolean {
	return (
		row !== undefined &&
		row.epoch === seen.epoch &&
		row.seq === seen.seq &&
		row.updated_at === seen.updatedAt &&
		row.open_run === null &&
		row.waiting === 0
	);
}
