// @holdfast/testing/linearizability: checks whether a single journal could have produced a concurrent history of a
// session.
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
