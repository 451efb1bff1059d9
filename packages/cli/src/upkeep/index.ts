/** Entry point of maintenance: checks, copies, prunes and vacuums a journal's file while it is in use. */
export { backupJournal } from "./backup.ts";
export { type CheckReport, checkJournal, type Depth } from "./check.ts";
export { checkStore, type StoreReport } from "./check-store.ts";
export { type Moved, moveToFile, moveToServer } from "./move.ts";
export { type PruneStep, pruneJournal } from "./prune.ts";
export { pruneStore } from "./prune-store.ts";
export { vacuumJournal } from "./vacuum.ts";
