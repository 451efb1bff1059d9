// Door of the check of histories: what processes did to a journal, recorded, and judged.
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
