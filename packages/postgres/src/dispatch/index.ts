// Entry point of dispatch: the work queue of a host.
export { jobSchemaOf } from "./install.ts";
export { type PostgresQueue, postgresQueue } from "./postgres-queue.ts";
