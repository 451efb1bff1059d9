// Door of dispatch: the queue of work of a host.
export { type PostgresQueue, postgresQueue } from "./postgres-queue.ts";
