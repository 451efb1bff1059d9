// Finds regressions: compares the metrics of an evaluation with those of an earlier one.
import { checkOptions, HoldfastError, optionNames } from "@holdfast/upp";
import type { EvaluationReport, ScenarioReport } from "./evaluate.ts";

/** A metric that got worse. */
export interface Regression {
	/** The name of the scenario. */
	readonly scenario: string;
	/** A member of `ScenarioReport`, or `scores.NAME`, or `missing` for a scenario that no longer exists. */
	readonly metric: string;
	/** The value in the baseline. */
	readonly before: number;
	/** The value in the report. */
	readonly after: number;
}

/** How much worse a metric may be, relative to its earlier value: 0.1 is a tenth. */
export interface Tolerance {
	/** For all metrics without their own tolerance. Default: 0.1. */
	readonly all?: number;
	/** For individual metrics, by name. */
	readonly of?: Readonly<Record<string, number>>;
}

const toleranceNames = optionNames<Tolerance>({ all: "number", of: "object" });

/** Metrics for which lower is better. */
const costs = ["meanSteps", "p50", "p95", "toolErrors", "tokens"] as const;

/** Lists the regressions beyond the tolerance, in the order of the scenarios. */
export function compareReports(
	report: EvaluationReport,
	baseline: EvaluationReport,
	options: Tolerance = {},
): readonly Regression[] {
	checkOptions(options, toleranceNames, { of: "The tolerance of compareReports()" });
	const { all = 0.1, of = {} } = options;
	const regressions: Regression[] = [];
	const now = new Map(report.scenarios.map((each) => [each.name, each]));
	for (const before of baseline.scenarios) {
		const after = now.get(before.name);
		if (after === undefined) {
			regressions.push({ scenario: before.name, metric: "missing", before: 1, after: 0 });
			continue;
		}
		const figures: [string, number, number, "less" | "more"][] = [
			["successRate", before.successRate, after.successRate, "more"],
			...costs.map((name): [string, number, number, "less"] => [name, before[name], after[name], "less"]),
			...Object.entries(before.scores).map(([name, score]): [string, number, number, "more"] => [
				`scores.${name}`,
				score,
				after.scores[name] ?? 0,
				"more",
			]),
		];
		for (const [metric, was, is, better] of figures) {
			const tolerance = of[metric] ?? all;
			const isWorse = better === "more" ? is < was * (1 - tolerance) : is > was * (1 + tolerance);
			if (isWorse) regressions.push({ scenario: before.name, metric, before: was, after: is });
		}
	}
	return regressions;
}

/**
 * Reads a report that was stored as JSON.
 * @throws HoldfastError `BASELINE_INVALID`.
 */
export function readReport(text: string): EvaluationReport {
	try {
		const report = JSON.parse(text) as EvaluationReport;
		if (Array.isArray(report.scenarios) && report.scenarios.every(isScenario)) return report;
	} catch {}
	throw new HoldfastError(
		"BASELINE_INVALID",
		"The baseline is not a report of an evaluation. Save a new one.",
	);
}

function isScenario(given: ScenarioReport): boolean {
	const figures = [given?.successRate, ...costs.map((name) => given?.[name])];
	const hasScores = typeof given?.scores === "object" && given.scores !== null;
	return typeof given?.name === "string" && figures.every((each) => typeof each === "number") && hasScores;
}
