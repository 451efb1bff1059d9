// @holdfast/testing/linearizability: whether what many processes did to a session is what one journal can have done.
export {
	checkLinearizable,
	type HistoryLine,
	type Linearizability,
	type ModelSession,
	type Operation,
	operationsOf,
	recordHistory,
	type SequentialModel,
	type SessionOperation,
	type SessionOutcome,
	sessionModel,
} from "./linearizability/index.ts";
