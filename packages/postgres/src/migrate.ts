// Migrates a schema to the tables of this release in numbered steps. Each runs in a separate transaction under a lock
// that all processes share, so that repeated or concurrent migrations are harmless.
import { HoldfastError } from "@holdfast/upp";
import type { Database } from "./database.ts";
import { digest, lockKey } from "./digest.ts";
import { type Migration, migrations } from "./schema/index.ts";

/** Returns the first number of a schema's advisory locks; the next one is for its records. */
export function lockSpace(schema: string): number {
	return lockKey(digest("holdfast", schema)) & ~1;
}

/**
 * Brings the tables up to date, and creates missing ones.
 * @throws HoldfastError `journal_newer` for tables of a release that this one cannot work alongside, `journal_outdated`
 * for those of a build before a release with different steps, `journal_foreign` for a schema with other contents.
 */
export async function migrate(database: Database, schema: string): Promise<void> {
	const state = await look(database, schema);
	check(schema, state);
	for (let number = state.version + 1; number <= migrations.length; number++)
		await database.query(step(schema, number));
}

interface State {
	/** Number of applied steps. */
	readonly version: number;
	/** The number of steps that a release must know to work with these tables. */
	readonly needs: number;
	/** Whether the schema contains other tables. */
	readonly foreign: boolean;
	/** The number of an applied step whose text has changed since. */
	readonly changed?: number | undefined;
}

/** Returns a short digest of a step. */
function digestOf({ sql }: Migration): string {
	return digest(sql("any"));
}

async function look(database: Database, schema: string): Promise<State> {
	const [found] = await database.query<{ own: boolean; other: boolean }>(
		`SELECT to_regclass($1) IS NOT NULL AS own, EXISTS (SELECT FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
			WHERE n.nspname = $2 AND c.relname IN ('sessions', 'entries', 'workers')) AS other`,
		[`${schema}.migrations`, schema],
	);
	if (found?.own !== true) return { version: 0, needs: 0, foreign: found?.other === true };
	// Builds before the first release stored no digests.
	const taken = await database.query<{ number: number; needs: number; digest: string | null }>(
		`SELECT number, needs, replace(to_jsonb(m)->>'digest', '-', '') AS digest FROM ${schema}.migrations m ORDER BY number`,
	);
	const changed = taken.find(({ number, digest: taken }) => {
		const known = migrations[number - 1];
		return known !== undefined && digestOf(known) !== taken;
	});
	return {
		version: taken.at(-1)?.number ?? 0,
		needs: Math.max(0, ...taken.map(({ needs }) => needs)),
		foreign: false,
		changed: changed?.number,
	};
}

function check(schema: string, { version, needs, foreign, changed }: State): void {
	if (foreign)
		throw new HoldfastError(
			"journal_foreign",
			`The schema "${schema}" contains tables that are not Holdfast's. It was not changed; give another \`schema\`.`,
			{ data: { schema } },
		);
	if (needs > migrations.length)
		throw new HoldfastError(
			"journal_newer",
			`The schema "${schema}" has version ${version}, and this release supports versions up to ${migrations.length}. ` +
				"A newer release wrote it. Upgrade; the file is unchanged.",
			{ data: { schema, version } },
		);
	if (changed !== undefined)
		throw new HoldfastError(
			"journal_outdated",
			`The schema "${schema}" was created by a pre-release build, whose step ${changed} was different. It was not ` +
				"changed: move it to a file with that build and from there with this one, or give another `schema`.",
			{ data: { schema, step: changed } },
		);
}

/** Returns one step as one statement; a concurrent second process skips it. */
function step(schema: string, number: number): string {
	const migration = migrations[number - 1];
	if (migration === undefined) throw new RangeError(`There is no migration ${number}.`);
	return `DO $migration$ BEGIN
		PERFORM pg_advisory_xact_lock(${lockSpace(schema)}, 0);
		IF NOT EXISTS (SELECT FROM pg_namespace WHERE nspname = '${schema}') THEN CREATE SCHEMA ${schema}; END IF;
		CREATE TABLE IF NOT EXISTS ${schema}.migrations (number integer PRIMARY KEY, needs integer NOT NULL, at timestamptz NOT NULL,
			digest uuid);
		IF EXISTS (SELECT FROM ${schema}.migrations WHERE number = ${number}) THEN RETURN; END IF;
		${migration.sql(schema)}
		INSERT INTO ${schema}.migrations VALUES (${number}, ${migration.needs}, clock_timestamp(), '${digestOf(migration)}');
	END $migration$`;
}
