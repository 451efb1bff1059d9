// Entry point of session overviews: title, status and totals.
export { addBucket, emptyBucket } from "./counts.ts";
export { emptyGroup, type Group, joinGroups } from "./groups.ts";
export { quantile } from "./latencies.ts";
export { entriesAround, type FoundEntry, isReadable, type ReadFrom } from "./readable-entries.ts";
export { searchEntry, wordsOf } from "./search-entry.ts";
export { isOfSession, SessionLooks, statusOf, unreadableSession } from "./session-looks.ts";
export { TrialCounts } from "./trial-counts.ts";
