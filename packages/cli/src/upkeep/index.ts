/** Door of the upkeep: a journal's file is checked, copied, pruned and vacuumed beside those who use it. */
export { backupJournal } from "./backup.ts";
export { type CheckReport, checkJournal, type Depth } from "./check.ts";
export { type PruneStep, pruneJournal } from "./prune.ts";
export { vacuumJournal } from "./vacuum.ts";
