// Entry point of the clients over Postgres.
export { type PostgresOptions, postgresClients } from "./postgres-clients.ts";
