// A Postgres for the tests of a file, started when it is first needed and ended with them.
import { type PostgresServer, startPostgresServer } from "@holdfast/testing/postgres-server";
import { afterAll } from "vitest";

let starting: Promise<PostgresServer> | undefined;

export function startPostgres(): Promise<PostgresServer> {
	starting ??= startPostgresServer();
	return starting;
}

afterAll(async () => {
	await (await starting?.catch(() => undefined))?.stop();
});
