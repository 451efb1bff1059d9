// The inspector with damaged rows, in Postgres.
import { type PostgresServer, startPostgresServer } from "@holdfast/testing/postgres-server";
import { afterAll } from "vitest";
import { testDamagedData } from "./damaged-data.fixture.ts";
import { damagedPostgres } from "./damaged-stores.fixture.ts";

let starting: Promise<PostgresServer> | undefined;
afterAll(async () => (await starting)?.stop());

testDamagedData("in Postgres", async () => {
	starting ??= startPostgresServer();
	return damagedPostgres(await starting);
});
