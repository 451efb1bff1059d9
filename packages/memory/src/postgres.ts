// The entry of the clients over Postgres.
export type { Clients } from "./contract/index.ts";
export { type PostgresOptions, postgresClients } from "./postgres/index.ts";
