// Entry point of the key-values of a thread.
export { type HostValues, type KeyValue, ThreadValues } from "./thread-values.ts";
