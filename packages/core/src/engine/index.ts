// Door of the engine: one loop over facts, its actions and its events.
export type {
	Action,
	AskAction,
	Decider,
	FinishAction,
	ModelAction,
	NoteAction,
	Situation,
} from "./action.ts";
export { isAwaitedBy, type Place, waitFor, withinCall } from "./call-scope.ts";
export type { KeptEvent } from "./chunk-recorder.ts";
export { cancelled, conclude } from "./conclude.ts";
export { drive, turnOf } from "./drive.ts";
export { type DriveOutcome, sessionKilled } from "./end-run.ts";
export type {
	AgentStrategy,
	EngineAgent,
	EngineModel,
	EngineResponse,
	GenerateResult,
	ModelPrice,
	Observation,
} from "./engine-agent.ts";
export { ephemeralRecorder } from "./ephemeral.ts";
export { errorData } from "./error-data.ts";
export { EventQueue } from "./event-queue.ts";
export type * from "./events.ts";
export { agentChange, fingerprintOf } from "./fingerprint.ts";
export { foldedFact, withTools } from "./folded-state.ts";
export type * from "./interceptors.ts";
export { joinModelEvents, joinStreamEvents } from "./join-stream-events.ts";
export type { CommittedFact, Ledger, Mark } from "./ledger.ts";
export { PartialAnswer } from "./partial-answer.ts";
export { type Clock, type Ids, type Ports, systemPorts, type Timers } from "./ports.ts";
export { project } from "./project.ts";
export { foldOptions, type Recorder, Run, type RunInput } from "./run.ts";
export type { CallState, LastFact, RunState } from "./run-state.ts";
export {
	evolve,
	type FoldOptions,
	initialSession,
	type SessionState,
} from "./session-state.ts";
export { CommitFailed, type StopReason, stopReasonOf } from "./stopped.ts";
export {
	executionTrace,
	isSubagentEvent,
	type SubagentEndEvent,
	type SubagentEvent,
	type SubagentInnerEvent,
	type SubagentStartEvent,
	TraceCollector,
} from "./subagent-events.ts";
export { textHash } from "./text-hash.ts";
