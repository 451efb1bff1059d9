// The door of turns: what came of one call, and what it cost.

export { readStopReason, type StopReason } from "./stop-reason.ts";
export { emptyUsage, sumUsage, type TokenUsage } from "./token-usage.ts";
export { createTurn, type Turn, type TurnParts } from "./turn.ts";
