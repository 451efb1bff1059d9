// Entry point of the replayer: code whose calls are recorded, and that continues from its record.
export { Branch, type NewCall } from "./branch.ts";
export type { CodeOutcome, CodeRecord } from "./code-record.ts";
export { type Divergence, Replayer } from "./replayer.ts";
