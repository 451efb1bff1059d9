// @holdfast/testing/postgres-server: a real Postgres for tests.
export {
	type PostgresServer,
	type PostgresServerOptions,
	startPostgresServer,
} from "./postgres-server/postgres-server.ts";
