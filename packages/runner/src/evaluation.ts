// Entry point `@holdfast/runner/evaluation`: scenarios with scorers, their metrics, and regressions.
export { compareReports, type Regression, readReport, type Tolerance } from "./evaluation/compare-reports.ts";
export {
	type EvaluateOptions,
	type EvaluationProgress,
	type EvaluationReport,
	evaluate,
	type ScenarioReport,
} from "./evaluation/evaluate.ts";
export { type RecordedCase, recordedCases } from "./evaluation/recorded-cases.ts";
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
} from "./evaluation/scenario.ts";
export { matchesSchema } from "./evaluation/schema-scorer.ts";
