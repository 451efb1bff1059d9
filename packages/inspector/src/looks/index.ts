// Door of what is known of sessions beside their entries: their first words, their status and their numbers.
export { addBucket, emptyBucket } from "./counts.ts";
export { SessionLooks, statusOf } from "./session-looks.ts";
