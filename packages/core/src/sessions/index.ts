// Entry point of the sessions: durable conversations under keys.
export { AgentRun, type RunResult } from "./agent-run.ts";
export { answeredElsewhere } from "./early-answers.ts";
export { type DrainOptions, Lifecycle, type Living, type OwnLife } from "./lifecycle.ts";
export { localStore, processKey } from "./local-store.ts";
export { answer } from "./outside-requests.ts";
export { LeftOverSearch, recoverSession, takeOver } from "./recover-session.ts";
export type { Recovery } from "./recovery.ts";
export { kill, remove } from "./remove-session.ts";
export { Session } from "./session.ts";
export { agentClosed, awaitsItself, awaitsOwnSetup } from "./session-errors.ts";
export { SessionEvents } from "./session-events.ts";
export type { RecordedRun, SessionRecords } from "./session-records.ts";
export { type ChildRecords, noticeIdentity, type RecordedTask } from "./session-records.ts";
export { deliver, deliverNotice, readState, resume, resumeRun } from "./session-requests.ts";
export { SessionTable } from "./session-table.ts";
export { storeKeysWith } from "./store-keys.ts";
export type { RecoverOptions, SuperviseOptions, WorkOptions } from "./supervised.ts";
export { Supervisor } from "./supervisor.ts";
export {
	type AgentSetup,
	forwarded,
	type SessionAgent,
	type SessionChildren,
	type SessionHome,
	type TurnRequest,
} from "./turn-agent.ts";
export type { Unread } from "./unread-runs.ts";
export { waitingAnswer } from "./waiting-answers.ts";
export { waitingInput } from "./waiting-input.ts";
