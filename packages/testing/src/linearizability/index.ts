// Entry point of the history check: records and verifies what processes did to a journal.
export {
	checkLinearizable,
	type Linearizability,
	type Operation,
	type SequentialModel,
} from "./linearizable.ts";
export { type HistoryLine, operationsOf, recordHistory } from "./record-history.ts";
export {
	type ModelSession,
	type SessionOperation,
	type SessionOutcome,
	sessionModel,
} from "./session-history.ts";
