// @holdfast/testing/postgres-server: a real Postgres for tests, and a proxy that tests can cut.
export {
	type PostgresServer,
	type PostgresServerOptions,
	startPostgresServer,
} from "./postgres-server/embedded-postgres.ts";
export { openWay, type Way } from "./postgres-server/way.ts";
