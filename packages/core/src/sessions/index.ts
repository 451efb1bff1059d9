// Door of the sessions: durable conversations under keys.
export { deliverTurn } from "./accept-turn.ts";
export { AgentRun, type RunResult } from "./agent-run.ts";
export { type ChildRecords, noticeIdentity, type RecordedTask } from "./child-records.ts";
export { WaitingSessions } from "./deadlines.ts";
export { orphanedPlaces } from "./orphaned-places.ts";
export { placesBehind } from "./places-behind.ts";
export { Session } from "./session.ts";
export type { AgentSetup, SessionAgent, SessionChildren, TurnRequest } from "./session-agent.ts";
export { awaitsItself, awaitsOwnSetup } from "./session-errors.ts";
export { SessionEvents } from "./session-events.ts";
export type { RecordedRun, SessionRecords } from "./session-records.ts";
export { SessionTable } from "./session-table.ts";
export { processPlace, storeHere } from "./store-here.ts";
