// Entry `@holdfast/postgres`: sessions in a Postgres database that many processes and machines share.
export type { PooledConnection, PostgresHostOptions, PostgresPool } from "./options.ts";
export { type PostgresHost, postgresHost } from "./postgres-host.ts";
export type { PostgresJournal } from "./postgres-journal.ts";
