// The entry point of facts.
export type { AgentEvent } from "./agent-event.ts";
export { type CachedCall, type CachedInput, type CacheReport, withCacheReport } from "./cache-report.ts";
export { noCalls } from "./call-states.ts";
export type { Chunk, ChunkEvent, KeptEvent, StoredChunk } from "./chunk.ts";
export { decodeFact, type EncodedFact, encodeFact } from "./codec.ts";
export type { Committed } from "./committed.ts";
export { cutHistory } from "./edit-message.ts";
export { chunksAfter, entriesAfter, entriesBack, isExpired } from "./entry-pages.ts";
export { errorData } from "./error-data.ts";
export { afterEntry, beginning, type EventPlace, eventId, isAfter, readEventId } from "./event-id.ts";
export {
	type BoundaryEvent,
	endsExecution,
	type MessageEvent,
	type RunEndEvent,
	type RunEvent,
	type RunStartEvent,
	type ToolEndEvent,
	type Watcher,
} from "./events.ts";
export { evolve } from "./evolve.ts";
export type {
	AgentPart,
	AssistantSaid,
	BoundaryMark,
	CallPathStep,
	Entry,
	ErrorData,
	Fact,
	FactKind,
	NestedCall,
	Noted,
	PendingCall,
	PendingWait,
	Placement,
	PreparedStep,
	RunKind,
	RunOutcome,
	RunParked,
	RunResumed,
	RunStarted,
	Spent,
	StepPart,
	ToolCallOutcome,
	ToolSettled,
	ToolStarted,
	ToolsPending,
	ToolsRequested,
	WaitingChild,
} from "./fact.ts";
export { type FailureReason, failureReason } from "./failure-reason.ts";
export { flat, flatFrom, GrowingText } from "./flat-text.ts";
export { workflowSettled, workflowState, workflowStateKey } from "./fold-note.ts";
export { foldedFact, withTools } from "./folded-state.ts";
export {
	type AcceptedInput,
	acceptInput,
	inputFact,
	type SendInput,
	saidBy,
	storedInput,
} from "./input.ts";
export { anyImage, type InputPart, type WrappedData } from "./input-part.ts";
export { isJobEvent, type JobStatus, type SubagentJobEnd, type SubagentJobEvent } from "./job-events.ts";
export { joinModelEvents, joinStreamEvents } from "./join-stream-events.ts";
export {
	duplicateInput,
	eventsExpired,
	forkUnsettled,
	historyUnsettled,
	isUnreadable,
	journalClosed,
	journalCorrupt,
	leaseLost,
	nothingToFork,
	sessionExists,
} from "./journal-errors.ts";
export { emptySession, eventsOf, JournalFold, type PlacedEvent } from "./journal-fold.ts";
export { type JournalItem, JournalReader, type JournalSource, type SourcePage } from "./journal-reader.ts";
export { lookAt, never } from "./look-at.ts";
export { boundaryOf, PendingMarks, withMarks } from "./marks.ts";
export { addedIdOf, type MessageEdit, readEdit, storedEdit } from "./message-edit.ts";
export { costOf, type ModelPrice } from "./model-price.ts";
export { modelRetryNote, modelRetryOf } from "./model-retry.ts";
export type { Mutable } from "./mutable.ts";
export {
	asChild,
	continuesByItself,
	earliestDue,
	hasNoSession,
	nestedCalls,
	ofNoSession,
	waitOf,
} from "./nested-waits.ts";
export {
	answerFacts,
	checkAnswerList,
	dueFacts,
	expired,
	nextDeadline,
	type PendingToolCall,
	pendingCalls,
	stoppedFacts,
	type ToolAnswer,
	takesAnswers,
} from "./outside-answers.ts";
export { OwnFoldFailed, ownOf } from "./own-fold.ts";
export { PartialAnswer } from "./partial-answer.ts";
export { project } from "./project.ts";
export {
	fingerprintWithSystem,
	type RecordedSystem,
	recordedSystem,
	type SessionSystem,
	systemHash,
} from "./recorded-system.ts";
export {
	finalOutputTag,
	type OutputVerdict,
	outputTopic,
	type RunOutput,
	readVerdict,
} from "./run-output.ts";
export {
	type CallState,
	type LastFact,
	newCalls,
	type OfferedTools,
	type RunState,
	stepContinues,
} from "./run-state.ts";
export {
	type CacheBreak,
	type CacheBreakReason,
	joinedBreak,
	type SentPrefix,
	type SentView,
	type ViewCuts,
} from "./sent-prefix.ts";
export {
	cycleUsage,
	type FoldOptions,
	initialSession,
	runMessages,
	type SessionState,
} from "./session-state.ts";
export { isSettledAt } from "./settled-at.ts";
export { continuedHash, emptyHash, type HashState, hashOfState, textHash } from "./text-hash.ts";
