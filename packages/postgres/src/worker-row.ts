// This worker's registration in a shared store: a row with its heartbeat, and a lock whose release shows its end at once.
// The row is created before the first write, and removed when the worker leaves.

import { HoldfastError } from "@holdfast/upp";
import { toStored } from "holdfast/host";
import type pg from "pg";
import { laneCount } from "./commit-queue.ts";
import type { Database } from "./database.ts";
import { type Heartbeat, startHeartbeat } from "./heartbeat.ts";
import type { SessionConnection } from "./session-connection.ts";

/** The parts of a worker's row. */
export interface WorkerParts {
	readonly database: Database;
	readonly session: SessionConnection;
	/** The options of the heartbeat's connection. */
	readonly lasting: object | undefined;
	readonly schema: string;
	readonly space: number;
	readonly workerId: string;
	readonly leaseTtlMs: number;
	/** Ensures that the tables exist. */
	ready(): Promise<void>;
	/** Whether it holds anything that a heartbeat must keep. */
	holds(): boolean;
}

/** A worker's registration. */
export interface WorkerRow {
	/** Number of its row; 0 until it is registered. */
	readonly id: number;
	/** Registers it if it is not registered yet; resolves to the lanes of its commits. */
	register(): Promise<readonly string[]>;
	/** Restores its rows, which another process removed as those of a dead worker. */
	restore(lane: string): Promise<void>;
	/** Returns the SQL that checks whether a worker is alive, given its table alias. */
	lives(alias: string): string;
	/** Stops the heartbeat and removes the row. */
	leave(): Promise<void>;
}

/** Creates the registration; nothing is written yet. */
export function workerRow(parts: WorkerParts): WorkerRow {
	const { database, session, schema, space, leaseTtlMs } = parts;
	const name = toStored(parts.workerId);
	const beats = `INSERT INTO ${schema}.workers AS w (id, name, ttl_ms, beat_at) VALUES ($1, $2, $3, clock_timestamp())
		ON CONFLICT (id) DO UPDATE SET beat_at = excluded.beat_at`;
	let id = 0;
	let registering: Promise<readonly string[]> | undefined;
	let heartbeat: Heartbeat | undefined;
	let timer: ReturnType<typeof setInterval> | undefined;
	const lives = (alias: string): string => `${schema}.lives_v1(${alias}, ${space})`;

	/** Acquires the lock, which ends with its connection. */
	async function lock(client: pg.Client): Promise<void> {
		if (id === 0) return;
		await client.query(
			`UPDATE ${schema}.workers SET locked_since = CASE WHEN pg_try_advisory_lock($2, $3) THEN pg_postmaster_start_time() END
				WHERE id = $1`,
			[id, space, id % 2_147_483_647],
		);
	}

	async function register(): Promise<readonly string[]> {
		await parts.ready();
		await succeed();
		await forget();
		const [row] = await database.query<{ id: number }>(
			`INSERT INTO ${schema}.workers (name, ttl_ms, beat_at) VALUES ($1, $2, clock_timestamp())
				ON CONFLICT (name) DO UPDATE SET beat_at = excluded.beat_at RETURNING id`,
			[name, leaseTtlMs],
		);
		id = row?.id ?? 0;
		const lanes = Array.from({ length: laneCount }, () => globalThis.crypto.randomUUID());
		await database.query(
			`INSERT INTO ${schema}.slots (id, worker) SELECT unnest($1::uuid[]), $2 ON CONFLICT DO NOTHING`,
			[lanes, id],
		);
		startBeating();
		await session.onConnect(lock);
		await session.start();
		return lanes;
	}

	function startBeating(): void {
		const values = [id, name, leaseTtlMs];
		heartbeat = startHeartbeat({
			connection: parts.lasting,
			text: beats,
			values,
			every: Math.ceil(leaseTtlMs / 4),
			beat: () => database.once(beats, values),
		});
		// A worker whose leases end soon does not require the thread.
		timer = setInterval(() => {
			if (!parts.holds()) return;
			clearInterval(timer);
			heartbeat?.useThread();
		}, leaseTtlMs / 4);
		timer.unref();
	}

	/** Replaces a dead worker of the same name; any worker may start inputs accepted in its name. */
	async function succeed(): Promise<void> {
		const [former] = await database.query<{ id: number; alive: boolean }>(
			`SELECT w.id, ${lives("w")} AS alive FROM ${schema}.workers w WHERE w.name = $1`,
			[name],
		);
		if (former === undefined) return;
		if (former.alive)
			throw new HoldfastError(
				"invalid_option",
				`Another worker named "${parts.workerId}" is alive; give each worker its own \`workerId\`.`,
				{ data: { option: "workerId" } },
			);
		await database.query(`DELETE FROM ${schema}.workers WHERE id = $1`, [former.id]);
		await database.query(`DELETE FROM ${schema}.slots WHERE worker = $1`, [former.id]);
		await database.query(`UPDATE ${schema}.inputs SET worker = NULL WHERE worker = $1`, [name]);
	}

	/** Removes rows of workers that died a day ago and hold nothing. */
	async function forget(): Promise<void> {
		await database.query(
			`WITH gone AS (DELETE FROM ${schema}.workers w WHERE w.beat_at < clock_timestamp() - interval '1 day' AND NOT EXISTS (
				SELECT FROM ${schema}.sessions s WHERE s.owner = w.id AND s.open_run IS NOT NULL AND s.look_at IS NULL) RETURNING id)
			DELETE FROM ${schema}.slots WHERE worker IN (SELECT id FROM gone)`,
		);
	}

	return {
		get id() {
			return id;
		},
		register() {
			registering ??= register().catch((error: unknown) => {
				registering = undefined;
				throw error;
			});
			return registering;
		},
		async restore(lane) {
			await database.query(beats, [id, name, leaseTtlMs]);
			await database.query(
				`INSERT INTO ${schema}.slots (id, worker) VALUES ($1, $2) ON CONFLICT DO NOTHING`,
				[lane, id],
			);
		},
		lives,
		async leave() {
			clearInterval(timer);
			await heartbeat?.stop();
			if (id === 0) return;
			// A row that cannot be removed counts as that of a dead worker.
			await database
				.once(`DELETE FROM ${schema}.slots WHERE worker = $1`, [id])
				.then(() => database.once(`DELETE FROM ${schema}.workers WHERE id = $1`, [id]))
				.catch(() => {});
		},
	};
}
