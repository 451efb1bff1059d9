// The member of `_meta` that identifies repeated calls: a client sends it with every attempt at a call, and a server that
// deduplicates reads it.
export const idempotencyKeyMember = "dev.holdfast/idempotencyKey";
