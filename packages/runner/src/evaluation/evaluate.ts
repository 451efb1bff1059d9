// Runs scenarios, each several times, and aggregates the outcomes.

import { checkOptions, HoldfastError, messageOf, optionNames } from "@holdfast/upp";
import type { AgentResult, RunOptions } from "../contract/index.ts";
import type { Outcome, Scenario } from "./scenario.ts";

const evaluateNames = optionNames<EvaluateOptions>({
	repetitions: true,
	concurrency: true,
	onRun: "function",
	signal: "signal",
});

/** Options for running scenarios. */
export interface EvaluateOptions {
	/** Runs of each scenario, from 1. Default: 1. */
	readonly repetitions?: number;
	/** Maximum number of concurrent runs, at least 1. Default: 1. */
	readonly concurrency?: number;
	/** Called after each run. */
	onRun?(progress: EvaluationProgress): void;
	/** Ends the evaluation early: runs that have not started are skipped. */
	readonly signal?: AbortSignal;
}

/** Reported when a run has ended. */
export interface EvaluationProgress {
	/** The name of the scenario that ran. */
	readonly scenario: string;
	/** How many runs have ended. */
	readonly done: number;
	/** How many runs there are in total. */
	readonly of: number;
	/** Whether this run succeeded. */
	readonly success: boolean;
	/** The first error of this run or its scorers. */
	readonly error?: string;
}

/** Metrics of one scenario. */
export interface ScenarioReport {
	/** The name of the scenario. */
	readonly name: string;
	/** Number of runs. */
	readonly runs: number;
	/** From 0 to 1. */
	readonly successRate: number;
	/** Steps per run. */
	readonly meanSteps: number;
	/** In milliseconds. */
	readonly p50: number;
	/** In milliseconds: 95 % of the runs took at most this long. */
	readonly p95: number;
	/** Failed tool attempts per run. */
	readonly toolErrors: number;
	/** Tokens per run. */
	readonly tokens: number;
	/** Mean of each scorer, from 0 to 1. */
	readonly scores: Readonly<Record<string, number>>;
	/** Errors of runs or scorers, without duplicates. */
	readonly errors: readonly string[];
}

/** Metrics of all scenarios. */
export interface EvaluationReport {
	/** One report for each scenario, in their order. */
	readonly scenarios: readonly ScenarioReport[];
}

interface Run {
	readonly outcome: Outcome;
	readonly scores: Readonly<Record<string, number>>;
	readonly errors: readonly string[];
}

/**
 * Runs scenarios and returns their metrics. A run that throws counts as unsuccessful; a scorer that throws scores 0.
 *
 * Rejects with `EVALUATION_INVALID` for no scenarios, duplicate names, or limits that are not whole numbers from 1.
 */
export async function evaluate(
	scenarios: readonly Scenario[],
	options: EvaluateOptions = {},
): Promise<EvaluationReport> {
	checkOptions(options, evaluateNames, { of: "evaluate()" });
	const { repetitions = 1, concurrency = 1 } = options;
	check(scenarios, repetitions, concurrency);
	const queue = scenarios.flatMap((scenario) => Array.from({ length: repetitions }, () => scenario));
	const of = queue.length;
	const runs = new Map<string, Run[]>(scenarios.map(({ name }) => [name, []]));
	let next = 0;
	let done = 0;
	const work = async (): Promise<void> => {
		for (let scenario = queue[next++]; scenario !== undefined; scenario = queue[next++]) {
			if (options.signal?.aborted === true) return;
			const run = await runScenario(scenario);
			runs.get(scenario.name)?.push(run);
			const [error] = run.errors;
			options.onRun?.({
				scenario: scenario.name,
				done: ++done,
				of,
				success: run.outcome.success,
				...(error === undefined ? {} : { error }),
			});
		}
	};
	await Promise.all(Array.from({ length: Math.min(concurrency, of) }, work));
	return { scenarios: scenarios.map(({ name }) => reportOf(name, runs.get(name) ?? [])) };
}

function check(scenarios: readonly Scenario[], repetitions: number, concurrency: number): void {
	const problem =
		!Array.isArray(scenarios) || scenarios.length === 0
			? "there are no scenarios"
			: scenarios.some(({ name }) => typeof name !== "string" || name === "")
				? "a scenario has no name"
				: new Set(scenarios.map(({ name }) => name)).size < scenarios.length
					? "a name is used twice"
					: ![repetitions, concurrency].every((each) => Number.isInteger(each) && each >= 1)
						? "`repetitions` and `concurrency` must be integers of at least 1"
						: undefined;
	if (problem !== undefined)
		throw new HoldfastError("EVALUATION_INVALID", `The evaluation cannot be run: ${problem}.`);
}

async function runScenario({ agent, input, scorers = [] }: Scenario): Promise<Run> {
	const began = performance.now();
	let outcome: Outcome;
	const errors: string[] = [];
	try {
		const ran = await outcomeOf(agent, input);
		outcome = { ...ran, durationMs: performance.now() - began };
		if (ran.error !== undefined) errors.push(ran.error);
	} catch (error) {
		errors.push(messageOf(error));
		const durationMs = performance.now() - began;
		outcome = { success: false, output: undefined, steps: 0, durationMs, toolErrors: 0, tokens: 0 };
	}
	const scores: Record<string, number> = {};
	for (const scorer of scorers) {
		try {
			const score = Number(await scorer.score({ ...outcome, input }));
			if (!(score >= 0 && score <= 1)) throw new Error(`${score} is not a score from 0 to 1`);
			scores[scorer.name] = score;
		} catch (error) {
			errors.push(`${scorer.name}: ${messageOf(error)}`);
			scores[scorer.name] = 0;
		}
	}
	return { outcome, scores, errors };
}

type Ran = Omit<Outcome, "durationMs"> & { readonly error?: string };

async function outcomeOf(agent: Scenario["agent"], input: unknown): Promise<Ran> {
	if (typeof agent === "function") {
		const output = await (agent as (input: unknown) => unknown)(input);
		return { success: true, output, steps: 0, toolErrors: 0, tokens: 0 };
	}
	if ("runOnce" in agent) return ofResult(await agent.runOnce(runOptions(input)));
	const session = agent.session(`eval-${crypto.randomUUID()}`);
	const run = await session.send(typeof input === "string" ? input : (JSON.stringify(input) ?? ""));
	const { outcome, text, steps, usage, turn, error } = await run.result();
	const toolErrors = turn?.toolExecutions.filter(({ isError }) => isError).length ?? 0;
	const success = outcome === "completed";
	return {
		success,
		output: text,
		steps,
		toolErrors,
		tokens: usage.totalTokens,
		...(success
			? {}
			: { error: error === undefined ? `the run ended as ${outcome}` : `${error.code}: ${error.message}` }),
	};
}

function runOptions(input: unknown): RunOptions {
	if (input === undefined) return {};
	if (typeof input === "string") return { task: input };
	return input as RunOptions;
}

function ofResult(result: AgentResult): Ran {
	const { success, result: output, steps = 0, actions = [], tokenUsage, error } = result;
	const failed = actions.reduce((sum, { type, ok, attempts = 0 }) => {
		if (type !== "tool" || attempts === 0) return sum;
		return sum + (ok ? attempts - 1 : attempts);
	}, 0);
	return {
		success,
		output,
		steps,
		toolErrors: failed,
		tokens: tokenUsage?.totalTokens ?? 0,
		result,
		...(error === undefined ? {} : { error: `${error.code}: ${error.message}` }),
	};
}

function reportOf(name: string, runs: readonly Run[]): ScenarioReport {
	const mean = (value: (run: Run) => number): number =>
		runs.length === 0 ? 0 : runs.reduce((sum, run) => sum + value(run), 0) / runs.length;
	const durations = runs.map(({ outcome }) => outcome.durationMs).toSorted((a, b) => a - b);
	const at = (part: number): number => durations[Math.max(0, Math.ceil(part * durations.length) - 1)] ?? 0;
	const scorers = [...new Set(runs.flatMap(({ scores }) => Object.keys(scores)))];
	return {
		name,
		runs: runs.length,
		successRate: mean(({ outcome }) => (outcome.success ? 1 : 0)),
		meanSteps: mean(({ outcome }) => outcome.steps),
		p50: at(0.5),
		p95: at(0.95),
		toolErrors: mean(({ outcome }) => outcome.toolErrors),
		tokens: mean(({ outcome }) => outcome.tokens),
		scores: Object.fromEntries(scorers.map((scorer) => [scorer, mean(({ scores }) => scores[scorer] ?? 0)])),
		errors: [...new Set(runs.flatMap(({ errors }) => errors))],
	};
}
