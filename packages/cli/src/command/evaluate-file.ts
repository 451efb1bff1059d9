/** The command `eval`: runs the scenarios of a file, shows their metrics, and reports regressions. */

import { readFileSync, writeFileSync } from "node:fs";
import {
	compareReports,
	type EvaluationReport,
	evaluate,
	type Regression,
	readReport,
	type Scenario,
} from "@holdfast/runner/evaluation";
import { type CommandIo, formatCount, formatDuration, oneLine } from "../terminal/index.ts";
import { ending, exitCodes, importDefault, UsageError } from "../work/index.ts";
import type { Command } from "./arguments.ts";

type EvalCommand = Extract<Command, { name: "eval" }>;

/** Evaluates a file; returns the exit code. */
export async function evaluateFile(command: EvalCommand, io: CommandIo): Promise<number> {
	const baseline = command.baseline === undefined ? undefined : readReport(read(command.baseline));
	const scenarios = await importDefault(command.file);
	if (!Array.isArray(scenarios))
		throw new UsageError(`${command.file} exports no scenarios. Its default export must be a list of them.`);
	const stop = new AbortController();
	const stopListening = io.onInterrupt(() => {
		if (stop.signal.aborted) io.quit(exitCodes.interrupted);
		stop.abort();
		io.quit(exitCodes.interrupted);
	}, ending());
	try {
		const report = await evaluate(scenarios as readonly Scenario[], {
			repetitions: command.repetitions,
			concurrency: command.concurrency,
			signal: stop.signal,
			onRun({ scenario, done, of, success, error }) {
				const how = success ? "ok" : `failed${error === undefined ? "" : `: ${oneLine(error, 80)}`}`;
				io.stderr.write(`${done}/${of}  ${oneLine(scenario, 40)}  ${how}\n`);
			},
		});
		const regressions =
			baseline === undefined ? [] : compareReports(report, baseline, { all: command.tolerance });
		if (command.save !== undefined) writeFileSync(command.save, `${JSON.stringify(report, null, 2)}\n`);
		io.stdout.write(
			command.json
				? `${JSON.stringify(baseline === undefined ? report : { ...report, regressions }, null, 2)}\n`
				: `${tableOf(report)}${worse(regressions)}`,
		);
		const isBroken = report.scenarios.some(({ successRate }) => successRate === 0);
		return regressions.length > 0 || isBroken ? exitCodes.failed : exitCodes.completed;
	} finally {
		stopListening();
	}
}

function read(path: string): string {
	try {
		return readFileSync(path, "utf8");
	} catch (error) {
		throw new UsageError(`The baseline ${path} cannot be read. ${(error as Error).message}`);
	}
}

function tableOf({ scenarios }: EvaluationReport): string {
	const head = ["scenario", "runs", "success", "steps", "p50", "p95", "tool errors", "tokens", "scores"];
	const rows = scenarios.map((each) => [
		oneLine(each.name, 40),
		String(each.runs),
		`${Math.round(each.successRate * 100)} %`,
		round(each.meanSteps),
		formatDuration(each.p50),
		formatDuration(each.p95),
		round(each.toolErrors),
		formatCount(Math.round(each.tokens)),
		Object.entries(each.scores)
			.map(([name, score]) => `${name} ${score.toFixed(2)}`)
			.join(", "),
	]);
	const widths = head.map((title, at) =>
		Math.max(...[head, ...rows].map((row) => row[at]?.length ?? 0), title.length),
	);
	const line = (row: readonly string[]): string =>
		row
			.map((cell, at) => cell.padEnd(widths[at] ?? 0))
			.join("  ")
			.trimEnd();
	return `${[head, ...rows].map(line).join("\n")}\n`;
}

function worse(regressions: readonly Regression[]): string {
	if (regressions.length === 0) return "";
	const lines = regressions.map(({ scenario, metric, before, after }) =>
		metric === "missing"
			? `worse: ${scenario} is missing`
			: `worse: ${scenario} ${metric}: ${round(before)} before, ${round(after)} now`,
	);
	return `\n${lines.join("\n")}\n`;
}

function round(value: number): string {
	return String(Number(value.toPrecision(4)));
}
