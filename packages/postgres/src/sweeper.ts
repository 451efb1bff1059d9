// Removes unreachable rows, a few in each transaction: entries and chunks of removed or folded sessions, and pieces of
// files that were removed, replaced, or left by a writer that died. They stay invisible wherever this stops.
import type { Database } from "./database.ts";

/** The parts of a sweeper. */
export interface SweeperParts {
	readonly database: Database;
	readonly schema: string;
	lives(alias: string): string;
	now(): number;
	isOver(): boolean;
}

/** Removes unreachable rows. */
export interface Sweeper {
	/** Resolves when no row is left that could be removed now. */
	sweep(): Promise<void>;
	stop(): void;
	/** Resolves when no sweep is running. */
	idle(): Promise<void>;
}

/** Maximum number of rows removed per transaction. */
const rowsAtOnce = 5_000;
/** Maximum number of pieces of files removed per transaction, of 256 KiB each. */
const piecesAtOnce = 64;
/** Milliseconds for which readers can finish reading a replaced file. */
const grace = 60_000;

/** Creates the sweeper of a host. */
export function makeSweeper({ database, schema, lives, now, isOver }: SweeperParts): Sweeper {
	let running: Promise<void> | undefined;
	let again = false;
	let stopped = false;

	async function some(table: string, rows: string): Promise<number> {
		const [row] = await database.query<{ count: number }>(
			`WITH gone AS (DELETE FROM ${schema}.${table} WHERE ctid = ANY (ARRAY(${rows})) RETURNING 1)
				SELECT count(*) AS count FROM gone`,
		);
		return row?.count ?? 0;
	}

	async function all(table: string, rows: string, atOnce: number): Promise<void> {
		while (!stopped && (await some(table, `${rows} LIMIT ${atOnce}`)) === atOnce) {}
	}

	async function sweepRows(): Promise<void> {
		for (;;) {
			const [left] = await database.query<{ id: number; session: number; before_seq: number | null }>(
				`SELECT id, session, before_seq FROM ${schema}.leftovers ORDER BY id LIMIT 1`,
			);
			if (left === undefined || stopped) return;
			const { id, session, before_seq: before } = left;
			const where = `WHERE session = ${session}${before === null ? "" : ` AND seq < ${before}`}`;
			for (const table of ["entries", "chunks"])
				await all(table, `SELECT ctid FROM ${schema}.${table} ${where}`, rowsAtOnce);
			if (before === null) await all("dedupe", `SELECT ctid FROM ${schema}.dedupe ${where}`, rowsAtOnce);
			if (stopped) return;
			await database.query(`DELETE FROM ${schema}.leftovers WHERE id = $1`, [id]);
		}
	}

	async function sweepFiles(): Promise<void> {
		for (;;) {
			const [file] = await database.query<{ id: number }>(
				`SELECT f.id FROM ${schema}.files f LEFT JOIN ${schema}.workers w ON w.id = f.worker
					WHERE f.session IS NULL AND CASE WHEN f.worker IS NULL THEN f.at <= $1 ELSE coalesce(NOT ${lives("w")}, true) END
					ORDER BY f.id LIMIT 1`,
				[now() - grace],
			);
			if (file === undefined || stopped) return;
			// Its writer may still be alive: prevent it from naming the file before the first piece is deleted.
			await database.query(
				`UPDATE ${schema}.files SET worker = NULL, at = 0 WHERE id = $1 AND session IS NULL`,
				[file.id],
			);
			await all(
				"file_pieces",
				`SELECT ctid FROM ${schema}.file_pieces WHERE file = ${file.id}`,
				piecesAtOnce,
			);
			if (stopped) return;
			await database.query(`DELETE FROM ${schema}.files WHERE id = $1 AND session IS NULL`, [file.id]);
		}
	}

	async function run(): Promise<void> {
		do {
			again = false;
			await sweepRows();
			await sweepFiles();
		} while (again && !stopped && !isOver());
	}

	return {
		sweep() {
			again = true;
			running ??= run().finally(() => {
				running = undefined;
			});
			return running;
		},
		stop() {
			stopped = true;
		},
		async idle() {
			await running?.catch(() => {});
		},
	};
}
