// The loop as a decider: plan, act, reflect (keeps I1). Each answer is recorded before it is used, and none is requested
// twice (keeps I3): planning and reflecting are questions, acting is a tool call, and everything else follows from the
// facts.

import { HoldfastError, isThenable, messageOf } from "@holdfast/upp";
import {
	type Action,
	type DecidingStrategy,
	type QuestionContext,
	strategy,
	type ToolsAction,
} from "holdfast/execution";
import type { MaybePromise } from "holdfast/host";
import type { Interceptor } from "holdfast/middleware";
import {
	type BeginAnswer,
	memoryTool,
	type PlanAnswer,
	plainOf,
	type ReflectAnswer,
	type ResultError,
	type RunnerStep,
	textOf,
	topics,
} from "../contract/index.ts";
import type { KnownTools, LoopParts } from "./loop-parts.ts";
import { plannerContext } from "./planner-context.ts";
import { plannerState } from "./planner-state.ts";
import { callAnswer, noProgress, type Progress, progressAfter } from "./progress.ts";
import { readStep } from "./read-step.ts";
import { runnerError } from "./runner-error.ts";

/**
 * Plans, acts and reflects until a step of the type `finish`, or until the goal is met. The result is also a message of
 * the session.
 */
export function planActReflectLoop(parts: LoopParts, policy?: readonly Interceptor[]): DecidingStrategy {
	return strategy<Progress>({
		name: "plan-act-reflect",
		...(policy === undefined ? {} : { policy }),
		initial: () => noProgress,
		evolve: progressAfter,
		decide: ({ own, tools }) => next(parts, own, tools),
	});
}

function next(parts: LoopParts, progress: Progress, known: KnownTools): Action {
	const { phase, failure, result, planned } = progress;
	if (failure !== undefined) return { kind: "finish", error: runnerError(failure) };
	if (phase === "begin") return beginning(parts, progress);
	if (phase === "act") return acting(parts, progress, planned?.step as RunnerStep, known);
	if (phase === "reflect" && reflects(parts)) return reflecting(parts, progress, known);
	if (phase === "remember") return remembering(progress);
	const maxSteps = progress.begin?.maxSteps ?? parts.maxSteps;
	const mayPlan = maxSteps === undefined || progress.steps < maxSteps;
	if (result !== undefined && !(result.isSteered && mayPlan)) return finishing(result.value);
	if (progress.blocks > parts.safetyBudget) return { kind: "finish", error: tooManyBlocks(progress) };
	if (!mayPlan) return { kind: "finish", error: stepsExhausted(maxSteps as number) };
	return planning(parts, progress, known);
}

/** Returns the end of a successful run. */
function finishing(value: unknown): Action {
	return value === undefined || value === null ? { kind: "finish" } : { kind: "finish", text: textOf(value) };
}

/** Whether results are processed beyond the fold. */
function reflects({ reflector, goalMet, remembers }: LoopParts): boolean {
	return remembers !== false || reflector !== undefined || goalMet !== undefined;
}

function beginning(parts: LoopParts, { input }: Progress): Action {
	const question = async (_: unknown, { runId, sessionKey }: QuestionContext): Promise<BeginAnswer> => {
		const live = parts.live(runId, sessionKey);
		const options = await live.options();
		const { contextKey, maxSteps, deterministic, seed = 0 } = options;
		const begin = {
			agentId: parts.agentId,
			sessionId: live.sessionId,
			task: options.task ?? (input === "" ? (parts.task ?? "") : input),
			...(maxSteps === undefined ? {} : { maxSteps }),
			...(contextKey === undefined ? {} : { contextKey }),
			seed,
			...(deterministic === true ? { deterministic } : {}),
		};
		try {
			const memory = contextKey === undefined ? [] : await live.memory.read(contextKey);
			return { ...begin, memory };
		} catch (error) {
			return { ...begin, memory: [], error: errorOf(error, "MEMORY_FAILED") };
		}
	};
	return { kind: "ask", topic: topics.begin, question };
}

function planning(parts: LoopParts, progress: Progress, known: KnownTools): Action {
	const question = (_: unknown, { runId, sessionKey, signal }: QuestionContext): MaybePromise<PlanAnswer> => {
		const live = parts.live(runId, sessionKey);
		live.stepStarts(progress.steps + 1);
		const began = live.clock.now();
		const { context, used } = plannerContext(live, signal, `plan ${progress.steps + 1}`);
		const over = (): Omit<PlanAnswer, "step"> => ({
			...used(),
			duration: Math.max(0, live.clock.now() - began),
		});
		const failed = (error: unknown): PlanAnswer => {
			signal.throwIfAborted();
			return { ...over(), error: errorOf(error, "PLANNER_FAILED") };
		};
		const answered = (planned: unknown): PlanAnswer => {
			const step = readStep(planned, parts.storeReasoning);
			const isKnown = step.type !== "tool" || parts.callOf(step, 0, undefined, known) !== undefined;
			if (isKnown) return { ...over(), step };
			return { ...over(), step, verdict: notFound(step) };
		};
		try {
			const planned: unknown = parts.planner.plan(plannerState(parts, live, progress, known), context);
			if (!isThenable(planned)) return answered(planned);
			return Promise.resolve(planned).then(answered).catch(failed);
		} catch (error) {
			return failed(error);
		}
	};
	const follows = (answer: unknown): ToolsAction | undefined => {
		const planned = answer as PlanAnswer;
		const { step, error, verdict } = planned;
		const isRefused = verdict?.action === "blocked" || verdict?.action === "refused";
		if (error !== undefined || step?.type !== "tool" || isRefused) return undefined;
		const action = acting(parts, { ...progress, steps: progress.steps + 1, planned }, step, known);
		return action.kind === "tools" ? action : undefined;
	};
	return { kind: "ask", topic: topics.plan, question, follows };
}

function acting(parts: LoopParts, progress: Progress, step: RunnerStep, known: KnownTools): Action {
	const { steps, planned } = progress;
	const ask = planned?.verdict?.action === "ask" ? planned.verdict.rule : undefined;
	const call = parts.callOf(step, steps, ask, known);
	if (call === undefined) {
		// The run was resumed by an agent without this tool.
		const message = `The step needs the tool ${JSON.stringify(step.toolId)}, which this agent does not have.`;
		return { kind: "finish", error: new HoldfastError("TOOL_NOT_FOUND", message) };
	}
	const act = { kind: "tools", tag: "act", step: "next", calls: [call] } as const;
	if (!reflects(parts) || parts.reflector !== undefined || parts.goalMet !== undefined) return act;
	// No question is open, so the reflection shares the append of the result.
	return {
		...act,
		concludes({ outcome, result, duration }) {
			const { ok, output, fatal } = callAnswer(outcome, result, duration);
			if (fatal === true) return undefined;
			const written = ok ? output : undefined;
			return { topic: topics.reflect, answer: reflection(parts, progress, written) };
		},
	};
}

function reflecting(parts: LoopParts, progress: Progress, known: KnownTools): Action {
	const question = async (_: unknown, given: QuestionContext): Promise<ReflectAnswer> => {
		const { runId, sessionKey, signal } = given;
		const live = parts.live(runId, sessionKey);
		const result = progress.actions.at(-1);
		const { context, used } = plannerContext(live, signal, `reflect ${progress.steps}`);
		try {
			const state = plannerState(parts, live, progress, known);
			const found = result === undefined ? undefined : await parts.reflector?.reflect(state, result, context);
			const goalMet = found?.goalMet === true || (await parts.goalMet?.(state)) === true;
			const { calls, templates } = used();
			return {
				...reflection(parts, progress, result?.ok === true ? result.output : undefined),
				calls,
				templates,
				...(goalMet ? { goalMet: true } : {}),
				...(found?.note === undefined ? {} : { note: String(found.note) }),
			};
		} catch (error) {
			signal.throwIfAborted();
			const { calls, templates } = used();
			return { calls, templates, writes: [], error: errorOf(error, "REFLECTOR_FAILED") };
		}
	};
	return { kind: "ask", topic: topics.reflect, question };
}

/** Returns the default reflection on an output: it is written to memory. */
function reflection({ remembers }: LoopParts, progress: Progress, output: unknown): ReflectAnswer {
	const { begin, runId, steps } = progress;
	const about = { calls: [], templates: [] };
	if (remembers === false || output === undefined) return { ...about, writes: [] };
	const key = begin?.contextKey ?? begin?.sessionId ?? "";
	const writes = [{ key, id: `${runId}:${steps}`, entry: output }];
	return remembers === "with-run" ? { ...about, writes, isKept: true } : { ...about, writes };
}

function remembering({ reflected, steps }: Progress): Action {
	const call = { toolName: memoryTool, arguments: { writes: reflected?.writes ?? [], iteration: steps } };
	return { kind: "tools", tag: "remember", step: "same", calls: [call] };
}

function notFound({ toolId }: RunnerStep): NonNullable<PlanAnswer["verdict"]> {
	const message = `The tool ${JSON.stringify(toolId)} does not exist. Choose one of the listed tools.`;
	return { action: "refused", rule: "registry", code: "TOOL_NOT_FOUND", message };
}

function tooManyBlocks({ blocks, planned }: Progress): HoldfastError {
	const { code = "", rule = "" } = planned?.verdict ?? {};
	return new HoldfastError(
		"SAFETY_VIOLATION",
		`Policy blocked ${blocks} steps, the last by ${rule} (${code}). Raise \`safetyBudget\`, or change the agent's permissions.`,
	);
}

function stepsExhausted(maxSteps: number): HoldfastError {
	return new HoldfastError(
		"STEPS_EXHAUSTED",
		`The run did not finish within ${maxSteps} steps. Raise \`maxSteps\`, or make the task smaller.`,
	);
}

/** Converts an error to data: with its own code if it is a HoldfastError, otherwise with the given one. */
function errorOf(thrown: unknown, code: string): ResultError {
	const message = messageOf(thrown);
	if (!(thrown instanceof HoldfastError)) return { message, code };
	const info = plainOf(thrown.data);
	return { message, code: thrown.code, ...(info.ok && info.value !== undefined ? { info: info.value } : {}) };
}
