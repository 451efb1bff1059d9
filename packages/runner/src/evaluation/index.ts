// Entry point of the evaluation: scenarios, their metrics, and regressions.
export { compareReports, type Regression, readReport, type Tolerance } from "./compare-reports.ts";
export {
	type EvaluateOptions,
	type EvaluationProgress,
	type EvaluationReport,
	evaluate,
	type ScenarioReport,
} from "./evaluate.ts";
export { type RecordedCase, recordedCases } from "./recorded-cases.ts";
export {
	contains,
	exact,
	type JudgeOptions,
	judge,
	type Outcome,
	type Scenario,
	type ScoredRun,
	type Scorer,
	type Subject,
	scoredBy,
} from "./scenario.ts";
export { matchesSchema } from "./schema-scorer.ts";
