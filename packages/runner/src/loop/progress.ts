// The progress of a run: the fold of its facts (keeps I2). Each fact costs constant time (keeps I5).

import { cutResult } from "@holdfast/upp";
import { List } from "holdfast/execution";
import type { Entry } from "holdfast/host";
import {
	type ActionResult,
	type BeginAnswer,
	type CallAnswer,
	type ChatMessage,
	changesOf,
	type MemoryChange,
	type ModelCall,
	type PlanAnswer,
	type ReflectAnswer,
	type ResultError,
	type RunnerStep,
	textOf,
	topics,
} from "../contract/index.ts";

/** How often something was retried, and the last failure. */
export interface Retries {
	readonly attempts: number;
	readonly lastError?: string;
}

/** The state of a run so far. */
export interface Progress {
	readonly runId: string;
	/** Milliseconds since the epoch. */
	readonly startedAt: number;
	readonly finishedAt?: number;
	/** The user's first message: the task, if the run has no other. */
	readonly input: string;
	readonly begin: BeginAnswer | undefined;
	/** Number of planning iterations. */
	readonly steps: number;
	/** Steps that policy blocked. */
	readonly blocks: number;
	readonly transcript: List<ChatMessage>;
	readonly scratchpad: List<string>;
	readonly actions: List<ActionResult>;
	readonly calls: List<ModelCall>;
	readonly templates: List<{ readonly id: string; readonly version: string }>;
	readonly changes: List<MemoryChange>;
	readonly warnings: List<string>;
	/** Errors and policy blocks, one line each, in order. */
	readonly traces: List<string>;
	readonly retries: Retries;
	/** Milliseconds of each call, with its tool. */
	readonly latency: List<readonly [toolId: string, milliseconds: number]>;
	/** Attachments of each call that returned some. */
	readonly attachments: List<Readonly<Record<string, string>>>;
	/** The latest plan. */
	readonly planned: PlanAnswer | undefined;
	/** The reflection on the latest result. */
	readonly reflected: ReflectAnswer | undefined;
	/** Whether the last step was executed and not yet reflected on. */
	readonly phase: "begin" | "plan" | "act" | "reflect" | "remember" | "over";
	/** The error that will end the run. */
	readonly failure: ResultError | undefined;
	/** The outcome of the run. */
	readonly result:
		| {
				readonly value: unknown;
				/** Set if a message has arrived since: the run then plans another step. */
				readonly isSteered?: true;
		  }
		| undefined;
	readonly outcome: "completed" | "error" | "aborted" | "killed" | undefined;
}

export const noProgress: Progress = {
	runId: "",
	startedAt: 0,
	input: "",
	begin: undefined,
	steps: 0,
	blocks: 0,
	transcript: List.empty(),
	scratchpad: List.empty(),
	actions: List.empty(),
	calls: List.empty(),
	templates: List.empty(),
	changes: List.empty(),
	warnings: List.empty(),
	traces: List.empty(),
	retries: { attempts: 0 },
	latency: List.empty(),
	attachments: List.empty(),
	planned: undefined,
	reflected: undefined,
	phase: "begin",
	failure: undefined,
	result: undefined,
	outcome: undefined,
};

/** Returns a run after one more fact. */
export function progressAfter(progress: Progress, { at, runId, fact }: Entry): Progress {
	switch (fact.kind) {
		case "run.started":
			return { ...noProgress, runId, startedAt: at };
		case "input": {
			const text = fact.message.text;
			if (progress.input === "") return { ...progress, input: text };
			const { result, transcript } = progress;
			return {
				...progress,
				transcript: transcript.append({ role: "user", content: text }),
				result: result && { ...result, isSteered: true },
			};
		}
		case "decision":
			return afterDecision(progress, fact.topic, fact.answer);
		case "tool.settled":
			return afterCall(progress, fact.outcome, fact.result, fact.duration);
		case "run.ended": {
			const { outcome, error } = fact;
			const failure =
				outcome === "error" && progress.failure?.code !== error?.code ? error : progress.failure;
			return {
				...progress,
				phase: "over",
				outcome,
				finishedAt: Math.max(at, progress.startedAt),
				failure: failure === undefined ? undefined : withoutRetryable(failure),
			};
		}
		default:
			return progress;
	}
}

function withoutRetryable({ message, code, info }: ResultError): ResultError {
	return { message, ...(code === undefined ? {} : { code }), ...(info === undefined ? {} : { info }) };
}

function afterDecision(progress: Progress, topic: string, answer: unknown): Progress {
	switch (topic) {
		case topics.begin: {
			const begin = answer as BeginAnswer;
			return { ...progress, begin, phase: "plan", failure: begin.error };
		}
		case topics.plan:
			return afterPlan(progress, answer as PlanAnswer);
		case topics.reflect:
			return afterReflection(progress, answer as ReflectAnswer);
		default:
			return progress;
	}
}

function afterPlan(given: Progress, planned: PlanAnswer): Progress {
	const { step, error, verdict, retries = 0 } = planned;
	const progress: Progress = {
		...given,
		planned,
		result: undefined,
		reflected: undefined,
		steps: given.steps + 1,
		calls: given.calls.appendAll(planned.calls),
		templates: given.templates.appendAll(planned.templates),
		warnings: given.warnings.appendAll(planned.warnings ?? []),
		traces: given.traces.appendAll(tracesOfPlan(given.steps + 1, planned)),
		retries: retries === 0 ? given.retries : moreRetries(given.retries, retries, planned.lastRetryError),
	};
	if (error !== undefined || step === undefined) return { ...progress, failure: error };
	if (verdict?.action === "blocked" || verdict?.action === "refused") return blocked(progress, step, planned);
	const action: ActionResult = { ...shown(step), ok: true, duration: planned.duration };
	switch (step.type) {
		case "tool":
			return { ...progress, phase: "act" };
		case "message":
			return {
				...progress,
				actions: progress.actions.append({ ...action, output: step.message ?? "" }),
				transcript: progress.transcript.append({ role: "assistant", content: step.message ?? "" }),
			};
		case "internal":
			return {
				...progress,
				actions: progress.actions.append({ ...action, output: step.message ?? "" }),
				scratchpad: progress.scratchpad.append(step.message ?? textOf(step.input)),
			};
		case "finish": {
			const value = step.input === undefined ? step.message : step.input;
			return {
				...progress,
				actions: progress.actions.append({ ...action, output: value }),
				result: { value },
			};
		}
	}
}

/** A step that did not run is reported to the planner; if policy blocked it, the budget decreases by one. */
function blocked(progress: Progress, step: RunnerStep, { verdict, duration }: PlanAnswer): Progress {
	const { code = "SAFETY_VIOLATION", message = "", rule = "" } = verdict ?? {};
	const error: ResultError = { code, message, info: { rule } };
	const action: ActionResult = { ...shown(step), ok: false, error, duration };
	return {
		...progress,
		blocks: progress.blocks + (verdict?.action === "blocked" ? 1 : 0),
		actions: progress.actions.append(action),
		transcript: progress.transcript.append(resultMessage(step, error)),
	};
}

function afterCall(progress: Progress, outcome: string, result: unknown, duration: number): Progress {
	if (progress.phase === "remember") return afterWrites(progress, outcome, result);
	const step = progress.planned?.step;
	if (step === undefined || progress.phase !== "act") return progress;
	const answer = callAnswer(outcome, result, duration);
	const { ok, output, error, meta, latency, attempts, failures, attachments } = answer;
	const action: ActionResult = {
		...shown(step),
		...(output === undefined ? {} : { output }),
		ok,
		...(error === undefined ? {} : { error }),
		duration: Math.max(duration, latency),
		attempts,
		...(meta === undefined ? {} : { meta }),
	};
	const id = step.toolId as string;
	const again = Math.max(0, attempts - 1);
	return {
		...progress,
		phase: "reflect",
		actions: progress.actions.append(action),
		transcript: progress.transcript.append(resultMessage(step, ok ? output : failureOf(error, output))),
		changes: progress.changes.appendAll(answer.changes),
		traces: progress.traces.appendAll(tracesOf(progress.steps, `the tool ${id}`, failures)),
		latency: progress.latency.append([id, latency]),
		attachments: attachments === undefined ? progress.attachments : progress.attachments.append(attachments),
		retries: again === 0 ? progress.retries : moreRetries(progress.retries, again, failures.at(-1)?.message),
		failure: answer.fatal === true ? error : undefined,
	};
}

/** Reads the answer of a settled call, for every outcome. */
export function callAnswer(outcome: string, result: unknown, duration: number): CallAnswer {
	return outcome === "done" ? answerOf(result, duration) : unknownAnswer(outcome, result, duration);
}

/** Returns the answer of one of the loop's tools; any other tool of the agent only returns an output. */
function answerOf(result: unknown, duration: number): CallAnswer {
	const { attempts, latency, failures } = (result ?? {}) as Partial<CallAnswer>;
	if (typeof attempts === "number" && typeof latency === "number" && Array.isArray(failures))
		return result as CallAnswer;
	return { ok: true, output: result, latency: duration, attempts: 1, failures: [], changes: [] };
}

/** Returns the answer of a call that a crash cut off, or that was not approved. */
function unknownAnswer(outcome: string, result: unknown, duration: number): CallAnswer {
	const code = outcome === "unknown" ? "TOOL_OUTCOME_UNKNOWN" : "TOOL_NOT_RUN";
	const error: ResultError = { code, message: textOf(result) };
	return { ok: false, error, latency: duration, attempts: 1, failures: [error], changes: [] };
}

function afterReflection(progress: Progress, reflected: ReflectAnswer): Progress {
	const { note, writes, isKept, error } = reflected;
	return {
		...progress,
		reflected,
		phase: writes.length > 0 && isKept !== true ? "remember" : "plan",
		changes: isKept === true ? progress.changes.appendAll(changesOf(writes)) : progress.changes,
		scratchpad: note === undefined ? progress.scratchpad : progress.scratchpad.append(note),
		calls: progress.calls.appendAll(reflected.calls),
		templates: progress.templates.appendAll(reflected.templates),
		traces: progress.traces.appendAll(tracesOfCalls(progress.steps, reflected.calls)),
		failure: error,
		...goalOf(progress, reflected),
	};
}

/** If its goal is met, a run ends with the last output. */
function goalOf({ actions }: Progress, { goalMet }: ReflectAnswer): Partial<Progress> {
	return goalMet === true ? { result: { value: actions.at(-1)?.output } } : {};
}

function afterWrites(progress: Progress, outcome: string, result: unknown): Progress {
	const { changes = [], error } = (outcome === "done" ? result : {}) as Partial<CallAnswer>;
	const failure = outcome === "done" ? error : { code: "MEMORY_FAILED", message: textOf(result) };
	return { ...progress, phase: "plan", changes: progress.changes.appendAll(changes), failure };
}

function tracesOfPlan(step: number, { calls, verdict }: PlanAnswer): readonly string[] {
	const ofCalls = tracesOfCalls(step, calls);
	if (verdict === undefined) return ofCalls;
	return [...ofCalls, trace(step, `${verdict.action} by the rule ${verdict.rule}`, verdict)];
}

function tracesOfCalls(step: number, calls: readonly ModelCall[]): readonly string[] {
	return calls.flatMap(({ provider, error }) =>
		error === undefined ? [] : [trace(step, `the provider ${provider}`, error)],
	);
}

function tracesOf(step: number, what: string, failures: readonly ResultError[]): readonly string[] {
	return failures.map((failure) => trace(step, what, failure));
}

function trace(step: number, what: string, { code = "ERROR", message }: ResultError): string {
	return `step ${step}: ${what}: ${code}: ${message}`;
}

function moreRetries(before: Retries, more: number, lastError: string | undefined): Retries {
	const attempts = before.attempts + more;
	const last = lastError ?? before.lastError;
	return last === undefined ? { attempts } : { attempts, lastError: last };
}

/** Returns the parts of a step that the list of actions shows. */
function shown({ type, toolId, input }: RunnerStep): Pick<ActionResult, "type" | "toolId" | "input"> {
	return {
		type,
		...(toolId === undefined ? {} : { toolId }),
		...(input === undefined ? {} : { input }),
	};
}

/** Returns a failure in the form that the planner sees: the error, and any output of the tool. */
function failureOf(error: ResultError | undefined, output: unknown): unknown {
	if (error === undefined || output === undefined) return error ?? output;
	return { error, output };
}

function resultMessage({ toolId }: RunnerStep, output: unknown): ChatMessage {
	return { role: "tool", ...(toolId === undefined ? {} : { toolId }), content: cutResult(textOf(output)) };
}
