// A Postgres for the tests of a file, started when it is first needed and ended with them.
import {
	type PostgresServer,
	type PostgresServerOptions,
	startPostgresServer,
} from "@holdfast/testing/postgres-server";
import { afterAll } from "vitest";

/** Starts a server with these options for the calling file, before its tests. */
export function serverOfFile(options: PostgresServerOptions): () => Promise<PostgresServer> {
	let starting: Promise<PostgresServer> | undefined;
	afterAll(async () => {
		await (await starting?.catch(() => undefined))?.stop();
	});
	return () => {
		starting ??= startPostgresServer(options);
		return starting;
	};
}

export const testServer: () => Promise<PostgresServer> = serverOfFile({ settings: { max_connections: 300 } });
