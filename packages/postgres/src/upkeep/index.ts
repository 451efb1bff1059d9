// Door of the upkeep: a store read, filled and thinned as a whole.
export { type LivingWorker, livingWorkers } from "./living-workers.ts";
export { moveOut, readStore } from "./read-store.ts";
export { type SeenStoreSession, type SessionRemover, sessionRemover } from "./remove-sessions.ts";
export { type WriteStoreOptions, writeStore } from "./write-store.ts";
