// Entry point of a thread's key-value pairs.
export { type HostValues, type KeyValue, ThreadValues } from "./thread-values.ts";
