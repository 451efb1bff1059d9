// A store of many sessions, written by the database itself: idle ones with entries, and some that are open, wait or have inputs.
import type { PostgresServer } from "@holdfast/testing/postgres-server";
import { digest } from "./digest.ts";
import { postgresHost } from "./index.ts";

export interface Many {
	readonly schema: string;
	readonly sessions: number;
	readonly entriesEach: number;
}

/** Sessions have the keys `many 0`, `many 1` and so on, each with entries of one run that ended. */
export async function manySessions(
	server: PostgresServer,
	{ schema, sessions, entriesEach }: Many,
): Promise<void> {
	const host = postgresHost({ connectionString: server.url, schema });
	await host.journal.head("any");
	await host.close();
	// Both sides must compute the same digest, or no session would be found.
	const made = `replace(left(encode(sha256(convert_to(length('many ' || n) || ' many ' || n, 'UTF8')), 'hex'), 32), '-', '')::uuid`;
	const [check] = await server.query<{ same: boolean }>(
		`SELECT (${made}) = $1::uuid AS same FROM generate_series(7, 7) n`,
		[digest("many 7")],
	);
	if (check?.same !== true) throw new Error("digests of the database are others");
	await server.query(
		`INSERT INTO ${schema}.sessions (digest, key, incarnation, epoch, open_run, look_at, seq, last_kind, version, inputs, waiting, created_at, updated_at)
			SELECT ${made}, 'many ' || n, gen_random_uuid()::text, 1,
				CASE WHEN n % 100 = 0 THEN 'run ' || n END, CASE WHEN n % 200 = 0 THEN 9007199254740991 END,
				${entriesEach}, CASE WHEN n % 200 = 0 THEN 'waiting' ELSE 'run.ended' END, 1, 1, 1, n, n
			FROM generate_series(0, ${sessions - 1}) n`,
	);
	await server.query(
		`INSERT INTO ${schema}.entries (session, seq, at, position, version, kind, run_id, body)
			SELECT s.id, n, n, s.id * ${entriesEach + 1} + n, 1,
				CASE n WHEN 1 THEN 'run.started' WHEN ${entriesEach} THEN 'run.ended' ELSE 'note' END,
				'run ' || s.created_at, CASE n WHEN ${entriesEach} THEN '{"outcome":"completed"}' ELSE
				'{"step":1,"topic":"test","value":"' || repeat('x', 200) || '"}' END
			FROM ${schema}.sessions s, generate_series(1, ${entriesEach}) n`,
	);
	await server.query(
		`INSERT INTO ${schema}.timers (session, digest, name, wake_at, due_at, attempt)
			SELECT id, digest, 't', 1000000 + id, 1000000 + id, 0 FROM ${schema}.sessions`,
	);
	await server.query(
		`INSERT INTO ${schema}.session_values (session, digest, owner, name, value)
			SELECT id, digest, 'o', 'n', '1' FROM ${schema}.sessions`,
	);
	await server.query(
		`INSERT INTO ${schema}.records (digest, shelf, name, revision, body)
			SELECT digest, 'many', key, 1, '1' FROM ${schema}.sessions`,
	);
	const others = [
		"chunks (session, seq, sub, body) SELECT id, 1, 1, '{}'",
		"dedupe (session, digest, key, position) SELECT id, digest, key, 1",
		"files (session, digest, owner, name, size, at) SELECT id, digest, 'o', 'n', 1, 1",
		"file_pieces (file, piece, bytes) SELECT id, 0, 'x'",
		"inputs (session, position, id, kind, at, body, worker) SELECT id, 1, 'i', 'notice', 1, '0', 'w'",
	];
	for (const rows of others) await server.query(`INSERT INTO ${schema}.${rows} FROM ${schema}.sessions`);
	// Positions of future transactions must be above the invented ones.
	await server.query(
		`UPDATE ${schema}.meta SET value = (SELECT max(position) FROM ${schema}.entries) WHERE name = 'position_base'`,
	);
	await server.query(`VACUUM ANALYZE ${schema}.sessions, ${schema}.entries, ${schema}.timers, ${schema}.session_values,
		${schema}.records, ${schema}.chunks, ${schema}.dedupe, ${schema}.files, ${schema}.file_pieces, ${schema}.inputs`);
}
