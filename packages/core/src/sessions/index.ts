// Door of the sessions: durable conversations under keys.
export { deliverTurn, type StartOptions } from "./accept-turn.ts";
export { AgentRun, type RunResult } from "./agent-run.ts";
export { backwards } from "./backwards.ts";
export { type ChildRecords, noticeIdentity, type RecordedTask } from "./child-records.ts";
export { WaitingSessions } from "./deadlines.ts";
export { type Drained, drain } from "./drain.ts";
export { type FoldedHistory, type FoldHistoryOptions, foldHistory } from "./fold-history.ts";
export type { ForkOptions } from "./fork-session.ts";
export { acceptInput, type InputPart, inputFact, type SendInput, storedInput } from "./input.ts";
export type {
	JobStatus,
	SubagentJobEnd,
	SubagentJobEvent,
	SubagentJobStart,
	SubagentJobUpdate,
} from "./job-events.ts";
export { orphanedPlaces } from "./orphaned-places.ts";
export type { PendingToolCall, ToolAnswer } from "./outside-answers.ts";
export { placesBehind } from "./places-behind.ts";
export { Session } from "./session.ts";
export type { PluginTurn, SessionAgent, SessionChildren, SessionPlugins } from "./session-agent.ts";
export { type AgentEvent, SessionEvents } from "./session-events.ts";
export { childPlace, readChildPlace } from "./session-key.ts";
export type { RecordedRun, SessionRecords } from "./session-records.ts";
export { SessionTable } from "./session-table.ts";
