// Entry point of maintenance: reads, fills and prunes whole stores.
export { type LivingWorker, livingWorkers } from "./living-workers.ts";
export { moveOut, readStore } from "./read-store.ts";
export { type SeenStoreSession, type SessionRemover, sessionRemover } from "./remove-sessions.ts";
export { type WriteStoreOptions, writeStore } from "./write-store.ts";
