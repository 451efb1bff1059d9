// Records in Postgres: a table next to the entries. Records of one commit are locked by name first, even missing ones, so
// that of two commits with the same expectation one is refused.
import { encodeValue } from "@holdfast/upp";
import { fromStored, type RecordSpace, type StoredRecord, toStored } from "holdfast/host";
import { digest } from "./digest.ts";
import { decoded } from "./read-rows.ts";
import type { Store } from "./store.ts";

const nothing: StoredRecord = { revision: 0, value: undefined };

interface RecordRow {
	readonly name: string;
	readonly revision: number;
	readonly body: string;
}

/** The records of a store. */
export function postgresRecords({ database, commits, schema, ready }: Store): RecordSpace {
	const digestOf = (shelf: string, name: string): string => digest(toStored(shelf), toStored(name));
	return {
		async get({ shelf, name }) {
			await ready();
			const [row] = await database.query<RecordRow>(
				`SELECT revision, body FROM ${schema}.records WHERE digest = $1`,
				[digestOf(shelf, name)],
			);
			return row === undefined ? nothing : recordOf(row);
		},
		async list(shelf, { after = "", limit } = {}) {
			await ready();
			const rows = await database.query<RecordRow>(
				`SELECT name, revision, body FROM ${schema}.records WHERE left(shelf, 200) = left($1::text, 200) AND shelf = $1
					AND left(name, 400) >= left($2::text, 400) AND name > $2
					ORDER BY left(shelf, 200), left(name, 400), name LIMIT $3`,
				[toStored(shelf), toStored(after), limit ?? null],
			);
			return rows.map((row) => Object.assign(recordOf(row), { name: fromStored(row.name) }));
		},
		async commit(expected, writes) {
			const x = expected.map(({ shelf, name, revision }) => [digestOf(shelf, name), revision] as const);
			// The last of several writes to one record counts.
			const f = new Map(
				writes.map(({ shelf, name, value }) => {
					const at = digestOf(shelf, name);
					const body = value === undefined ? null : JSON.stringify(encodeValue(value));
					return [at, [at, toStored(shelf), toStored(name), body]] as const;
				}),
			);
			const [, done] = await commits.commit({
				sessions: [],
				records: [...x.map(([at]) => at), ...f.keys()],
				encode: () => ({ o: "write-records", x, f: [...f.values()] }),
			});
			return done === true;
		},
	};
}

/** The value is decoded on access, so that damaged records can still be listed and deleted. */
function recordOf({ revision, body }: { readonly revision: number; readonly body: string }): StoredRecord {
	return {
		revision,
		get value() {
			return decoded(body, "a record");
		},
	};
}
