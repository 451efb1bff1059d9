// The tables of a storage in Postgres.

/** Quotes an option as an identifier in a statement. */
export function quoted(name: string): string {
	return `"${name.replaceAll('"', '""')}"`;
}

/**
 * Returns the statements that create missing tables, in one transaction; concurrent processes wait for each other.
 * Numbers are never reused, so that the newest record has the highest one.
 */
export function schemaOf(schema: string): string {
	const place = quoted(schema);
	return `
		SELECT pg_advisory_xact_lock(1751543137);
		CREATE SCHEMA IF NOT EXISTS ${place};
		CREATE SEQUENCE IF NOT EXISTS ${place}.numbers;
		CREATE TABLE IF NOT EXISTS ${place}.records (
			seq bigint PRIMARY KEY,
			kind text NOT NULL,
			space text COLLATE "C" NOT NULL,
			name text COLLATE "C",
			at bigint NOT NULL,
			body text NOT NULL,
			vector bytea,
			words tsvector
		);
		CREATE UNIQUE INDEX IF NOT EXISTS records_by_name ON ${place}.records (kind, space, name) WHERE name IS NOT NULL;
		CREATE INDEX IF NOT EXISTS records_in_order ON ${place}.records (kind, space, seq);
		CREATE INDEX IF NOT EXISTS records_by_words ON ${place}.records USING gin (words);
	`;
}
