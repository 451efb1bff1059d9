// Entry point of the engine: one loop over facts, its actions and its events.
export { checkedCalls, invalidAction, receivesInputs, waitStep } from "./act-without-model.ts";
export type {
	Action,
	Decider,
	FinishAction,
	ModelAction,
	QuestionContext,
	RequestedCall,
	Situation,
} from "./action.ts";
export type { AgentStreamResult } from "./agent-stream-result.ts";
export type { ShownChild } from "./call-context.ts";
export { isAwaitedBy, type ProcessKey, waitFor, withinCall } from "./call-scope.ts";
export { CodeRound } from "./code-round.ts";
export { cancelled, conclude, notifyComplete, resultOf } from "./conclude.ts";
export { isTooDeep } from "./deep-arguments.ts";
export { drive } from "./drive.ts";
export { commit, type DriveOutcome, refusedEnd, sessionKilled } from "./end-run.ts";
export type {
	AgentStrategy,
	EngineAgent,
	EngineModel,
	EngineOutput,
	EngineResponse,
	Observation,
} from "./engine-agent.ts";
export { streamLimits } from "./engine-agent.ts";
export { ephemeralRecorder } from "./ephemeral.ts";
export { EventQueue } from "./event-queue.ts";
export { fairnessOf } from "./fairness.ts";
export { agentChange, fingerprintOf, fingerprintWith, readFingerprint, toolsPart } from "./fingerprint.ts";
export { foldOptions } from "./fold-options.ts";
export { saidAtTheEnd } from "./leave-run.ts";
export type { CommittedFact, Ledger, Mark } from "./ledger.ts";
export { type SentTools, sortTools } from "./loaded-tools.ts";
export { type ModelWait, type ModelWaitOptions, modelWaitDefaults } from "./model-wait.ts";
export type { EngineStep, RunHead, StepToPrepare } from "./prepared-step.ts";
export { Run } from "./run.ts";
export type { FailedModelCall, ObservedRun, ObserveRun, RunObserver } from "./run-observer.ts";
export type { CommitOptions, OutsideAnswers, Recorder, RunInput } from "./run-options.ts";
export { outputOf, turnOf } from "./step.ts";
export { ChildWaits, CommitFailed, Parks, Stopped, stopReasonOf, Waits } from "./stopped.ts";
export { executionTrace, isSubagentEvent, TraceCollector } from "./subagent-events.ts";
export { type AskedSystem, askSystem, type SystemRequest } from "./system-request.ts";
export { type AgentStreamEvent, joinDeltas, uapProjection } from "./uap-events.ts";
export { isTooLarge } from "./unwritable.ts";
