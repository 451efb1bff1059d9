// Entry point of session overviews: title, status and totals.
export { addBucket, emptyBucket } from "./counts.ts";
export { SessionLooks, statusOf } from "./session-looks.ts";
