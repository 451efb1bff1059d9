// Stores for cases that only open hosts over them. After a case, its store and connections are emptied and reused:
// creating the tables and connecting costs several times what most cases do.
import type { PostgresServer } from "@holdfast/testing/postgres-server";
import pg from "pg";
import { afterAll } from "vitest";

/** A store without sessions, with or without tables. */
export interface ReusedStore {
	readonly schema: string;
	/** Connections for the host of that number. */
	pool(number: number): pg.Pool;
	/** Called when its hosts are closed. */
	leave(): Promise<void>;
}

/** Provides the tests of the calling file with stores on a server. */
export function reusedStores(server: () => Promise<PostgresServer>): () => Promise<ReusedStore> {
	const left: string[] = [];
	const pools: pg.Pool[] = [];
	afterAll(async () => {
		for (const pool of pools) await pool.end();
	});
	return async () => {
		const { url, query, schema: another } = await server();
		const schema = left.pop() ?? another();
		return {
			schema,
			pool(number) {
				const pool = pools[number] ?? new pg.Pool({ connectionString: url });
				if (pools[number] === undefined) pool.on("error", () => {});
				pools[number] = pool;
				return pool;
			},
			async leave() {
				await query(emptying(schema));
				left.push(schema);
			},
		};
	};
}

/** Returns the statements that reset a store. */
function emptying(schema: string): string {
	const own = `FROM pg_class WHERE relnamespace = '${schema}'::regnamespace`;
	return `DO $$ DECLARE
		name text;
	BEGIN
		IF to_regclass('${schema}.migrations') IS NULL THEN RETURN; END IF;
		FOR name IN SELECT relname ${own} AND relkind = 'r' AND relname NOT IN ('meta', 'migrations') LOOP
			EXECUTE 'DELETE FROM ${schema}.' || name;
		END LOOP;
		UPDATE ${schema}.meta SET value = 0;
		PERFORM setval(oid, 1, false) ${own} AND relkind = 'S';
	END $$`;
}
