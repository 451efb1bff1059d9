// Door of dispatch: the queue of work of a host.
export { jobSchemaOf } from "./install.ts";
export { type PostgresQueue, postgresQueue } from "./postgres-queue.ts";
