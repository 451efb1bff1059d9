// The entry point of turns: the outcome of one call, and its usage.

export { readStopReason, type StopReason } from "./stop-reason.ts";
export { emptyUsage, sumUsage, type TokenUsage } from "./token-usage.ts";
export { createTurn, type Turn, type TurnParts } from "./turn.ts";
