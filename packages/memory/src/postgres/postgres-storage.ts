// A storage in Postgres. External values are always bound, never part of a statement.
import type { FoundRecord, Kind, NewRecord, Storage, StoredRecord } from "../storage/index.ts";
import type { PostgresConnection, Row } from "./postgres-connection.ts";
import { quoted, schemaOf } from "./schema.ts";
import { queryText, vectorText } from "./text-search.ts";

/** Records read at a time. */
const pageSize = 500;
const columns = "seq, kind, space, name, at, body, vector";

export function postgresStorage(connection: PostgresConnection, schema: string): Storage {
	const table = `${quoted(schema)}.records`;
	const insert = `INSERT INTO ${table} (seq, kind, space, name, at, body, vector, words)
		VALUES (nextval($8), $1, $2, $3, $4, $5, $6, $7::tsvector) ON CONFLICT (kind, space, name) WHERE name IS NOT NULL`;
	const numbers = `${quoted(schema)}.numbers`;
	const valuesOf = (kind: Kind, record: NewRecord): unknown[] => {
		const { space, name, at, body, vector, words } = record;
		return [kind, space, name, at, body, vector, words === undefined ? null : vectorText(words), numbers];
	};
	const records = async (text: string, values: unknown[]): Promise<readonly StoredRecord[]> =>
		(await connection.query(text, values)).map(recordOf);
	return {
		async open() {
			await connection.open();
			await connection.query(schemaOf(schema));
		},
		close: () => connection.close(),
		ping: () => connection.open(),
		append: async (record) =>
			void (await connection.query(`${insert} DO NOTHING`, valuesOf("entry", record))),
		put: async (record) =>
			void (await connection.query(
				`${insert} DO UPDATE SET seq = excluded.seq, at = excluded.at, body = excluded.body,
					vector = excluded.vector, words = excluded.words`,
				valuesOf("value", record),
			)),
		async find(space, name) {
			const text = `SELECT ${columns} FROM ${table} WHERE kind = 'value' AND space = $1 AND name = $2`;
			return (await records(text, [space, name]))[0];
		},
		list: (space, { order, offset, limit, fromSeq, since }) =>
			records(
				`SELECT ${columns} FROM ${table} WHERE kind = 'entry' AND space = $1 AND seq >= $2 AND at >= $3
					ORDER BY seq ${order === "asc" ? "ASC" : "DESC"} LIMIT $4 OFFSET $5`,
				[space, fromSeq, since, limit ?? null, offset],
			),
		async *pages(kind, space) {
			const text = `SELECT ${columns} FROM ${table} WHERE kind = $1 AND space = $2 AND seq > $3 ORDER BY seq LIMIT $4`;
			for (let after = 0; ; ) {
				const page = await records(text, [kind, space, after, pageSize]);
				if (page.length > 0) yield page;
				if (page.length < pageSize) return;
				after = page.at(-1)?.seq as number;
			}
		},
		async spaces(kind) {
			const rows = await connection.query(`SELECT DISTINCT space FROM ${table} WHERE kind = $1`, [kind]);
			return rows.map(({ space }) => String(space));
		},
		async floor(space, newest) {
			const text = `SELECT seq FROM ${table} WHERE kind = 'entry' AND space = $1 ORDER BY seq DESC LIMIT 1 OFFSET $2`;
			return Number((await connection.query(text, [space, newest - 1]))[0]?.seq ?? 0);
		},
		async remove(space, expired) {
			const all = `WITH removed AS (DELETE FROM ${table} WHERE kind = 'entry' AND space = $1`;
			const counted = "RETURNING 1) SELECT count(*) AS removed FROM removed";
			const [row] =
				expired === undefined
					? await connection.query(`${all} ${counted}`, [space])
					: await connection.query(`${all} AND (seq < $2 OR at < $3) ${counted}`, [
							space,
							expired.belowSeq,
							expired.before,
						]);
			return Number(row?.removed);
		},
		rewrite: async ({ seq, body, vector }) =>
			void (await connection.query(
				`UPDATE ${table} SET body = $2, vector = $3, words = NULL WHERE seq = $1`,
				[seq, body, vector],
			)),
		compact: async () => void (await connection.query(`VACUUM ${table}`)),
		async search({ kind, words, space, offset, limit }) {
			const rows = await connection.query(
				`SELECT ${columns}, ts_rank(words, $1::tsquery, 1) AS score FROM ${table}
					WHERE words @@ $1::tsquery AND kind = $2 AND ($3::text IS NULL OR space = $3)
					ORDER BY score DESC, seq DESC LIMIT $4 OFFSET $5`,
				[queryText(words), kind, space ?? null, limit, offset],
			);
			return rows.map((row): FoundRecord => ({ record: recordOf(row), score: Number(row.score) }));
		},
	};
}

/** 64-bit integers arrive as strings. */
function recordOf(row: Row): StoredRecord {
	const { seq, kind, space, name, at, body, vector } = row as unknown as StoredRecord;
	return { kind, space, name, body, vector, seq: Number(seq), at: Number(at) };
}
