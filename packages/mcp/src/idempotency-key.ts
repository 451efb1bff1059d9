// The member of `_meta` that says which calls are one: a client puts it into every attempt at a call, and a server that
// deduplicates looks at it.
export const idempotencyKeyMember = "dev.holdfast/idempotencyKey";
