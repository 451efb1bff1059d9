// Entry point of the replayer: code whose calls are recorded, and that continues from its record.
export { Branch, type NewCall } from "./branch.ts";
export { branchOf, type CodeOutcome, type CodeRecord } from "./code-record.ts";
export { type CodeProgress, type Divergence, Replayer } from "./replayer.ts";
