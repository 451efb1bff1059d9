// Door of the execution host: the ports of a durable host, and the one in memory.
export type * from "./checkpoint.ts";
export type * from "./execution-host.ts";
export type * from "./notification.ts";
export type * from "./run-events.ts";
export type * from "./run-record.ts";
export { isFinal } from "./run-record.ts";
