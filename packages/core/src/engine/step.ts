// The boundaries of a turn and its steps: interceptors are called, and new messages are accepted.
import {
	AssistantMessage,
	createTurn,
	HoldfastError,
	readStopReason,
	type Turn,
	type TurnParts,
} from "@holdfast/upp";
import {
	type AssistantSaid,
	cycleUsage,
	type Fact,
	type RunState,
	runMessages,
	type SessionState,
	stepContinues,
} from "../facts/index.ts";
import type { MaybePromise } from "../host/index.ts";
import type { GenerateResult } from "../state/index.ts";
import { commit, stepOf } from "./end-run.ts";
import type { Run } from "./run.ts";
import { untilAnswered } from "./until-answered.ts";

/** A run without a limit that reaches this number of steps causes a warning, because it may never end. */
const manySteps = 100;
const noneHeld: Fact[] = [];

/** Opens the turn, or closes the step that a crash left open. Returns true if the run must end. */
export function beginTurn(run: Run): MaybePromise<boolean> {
	const state = run.state.run;
	if (state === undefined) return false;
	if (state.attempt > 1) {
		// Watchers have not seen the end of the last fact's step, unless the run waited after it.
		const { last, unsettled, wait } = state;
		const answered = last.kind === "results" || (last.kind === "assistant" && unsettled === 0);
		const ended = wait === undefined && (last.endsStep === true || (answered && !stepContinues(state)));
		return ended ? endStep(run) : false;
	}
	if (run.interceptors.turnBefore !== undefined) return beginWithInterceptor(run);
	const passed = emitTurnStart(run);
	return passed === undefined && !run.inputs.any ? false : afterTurnStart(run, passed);
}

async function beginWithInterceptor(run: Run): Promise<boolean> {
	await run.untilStopped(run.interceptors.turnBefore?.());
	return afterTurnStart(run, emitTurnStart(run));
}

function emitTurnStart(run: Run): Promise<unknown> | undefined {
	const { seq, sub } = run.at;
	return run.boundary({ type: "turn_start", seq, sub });
}

function afterTurnStart(run: Run, passed: Promise<unknown> | undefined): MaybePromise<false> {
	if (passed !== undefined) return passed.then(() => afterTurnStart(run, undefined));
	return run.inputs.any ? run.inputs.take("turn-start").then(() => false) : false;
}

/** Whether a step can be opened without calling interceptors or hooks. */
export function mayStepAtOnce(run: Run): boolean {
	const isAsked = run.agent.hooks.onStepStart !== undefined || run.interceptors.stepBefore !== undefined;
	return !isAsked && !run.inputs.any;
}

/**
 * Opens the next step and returns its number. Facts held for its first append are committed before the run waits for
 * anything.
 */
export function beginStep(run: Run, held: Fact[] = noneHeld): MaybePromise<number> {
	const step = stepOf(run) + 1;
	const isAsked = run.agent.hooks.onStepStart !== undefined || run.interceptors.stepBefore !== undefined;
	if (isAsked) return stepAsked(run, step).then(() => stepBegins(run, step, held));
	return stepBegins(run, step, held);
}

async function stepAsked(run: Run, step: number): Promise<void> {
	const { hooks } = run.agent;
	if (hooks.onStepStart !== undefined)
		await untilAnswered(run, () => hooks.onStepStart?.(step, run.state.agent.withStep(step)));
	if (run.interceptors.stepBefore !== undefined) await run.untilStopped(run.interceptors.stepBefore(step));
}

function stepBegins(run: Run, step: number, held: Fact[]): MaybePromise<number> {
	if (step === manySteps + 1) warnOfSteps(run);
	run.checkStopped();
	const passed = run.watched ? emitStepStart(run, step) : undefined;
	return passed === undefined && !run.inputs.any ? step : afterStepStart(run, step, passed, held);
}

function emitStepStart(run: Run, step: number): Promise<unknown> | undefined {
	const { seq, sub } = run.at;
	return run.boundary({ type: "step_start", seq, sub, step });
}

async function afterStepStart(
	run: Run,
	step: number,
	passed: Promise<unknown> | undefined,
	held: Fact[],
): Promise<number> {
	if (passed !== undefined) {
		passed.catch(() => {}); // awaited after the commit
		await commitHeld(run, held);
		await passed;
	}
	if (run.inputs.any) {
		await commitHeld(run, held);
		await run.inputs.take("step-start");
	}
	return step;
}

async function commitHeld(run: Run, held: Fact[]): Promise<void> {
	if (held.length > 0) await commit(run, held.splice(0));
}

function warnOfSteps({ agent, runId, sessionKey }: Run): void {
	if (agent.stepsAre === "limited") return;
	const of = sessionKey === undefined ? "" : ` of session ${JSON.stringify(sessionKey)}`;
	agent.warn(
		new HoldfastError(
			"many_steps",
			`A run${of} has taken ${manySteps} steps and nothing limits it. Set \`maxSteps\`; Infinity removes the limit.`,
			{ data: { runId, ...(sessionKey === undefined ? {} : { sessionKey }), steps: manySteps } },
		),
	);
}

/**
 * Whether a run may end in the same append as its answer. No hook or interceptor may be called for either of them, and
 * nothing may pause the run in between.
 */
export function mayEndAtOnce(run: Run): boolean {
	const { hooks, output } = run.agent;
	const { stepAfter, stop, continues, leaving } = run.interceptors;
	const after = stepAfter ?? stop ?? continues ?? leaving;
	const asked = hooks.onStepEnd ?? hooks.stopCondition ?? run.afterStep ?? after;
	const isAsked = (asked ?? output ?? run.admission ?? run.ledger) !== undefined;
	return !isAsked && run.stopReason === undefined && !run.inputs.any && run.passesStepEnd;
}

/** Emits the end of the step and asks whether to stop. Returns true if the run must end. */
export function endStep(run: Run): MaybePromise<boolean> {
	const { onStepEnd, stopCondition } = run.agent.hooks;
	if (onStepEnd !== undefined || run.interceptors.stepAfter !== undefined) return endStepWithHooks(run);
	const passed = emitStepEnd(run);
	const asked = stopCondition !== undefined || run.interceptors.stop !== undefined;
	return passed === undefined && !run.inputs.any && !asked ? false : afterStepEnd(run, passed);
}

async function endStepWithHooks(run: Run): Promise<boolean> {
	await untilAnswered(run, () => run.agent.hooks.onStepEnd?.(stepOf(run), stepResult(run.state)));
	await run.untilStopped(run.interceptors.stepAfter?.(stepOf(run)));
	return afterStepEnd(run, emitStepEnd(run));
}

async function afterStepEnd(run: Run, passed: Promise<unknown> | undefined): Promise<boolean> {
	if (passed !== undefined) await passed;
	const stop = await isStopAsked(run);
	// A message takes precedence over a request to stop: a run ends only when no input waits (keeps I4).
	if (!run.inputs.any || hasNoStepLeft(run)) return stop;
	return (await run.inputs.take("step-end")) ? false : stop;
}

/**
 * Whether a run has its answer and may begin no further step. A new input then becomes a turn of its own, because it
 * would make the answered run fail.
 */
export function hasNoStepLeft({ agent, state }: Run): boolean {
	const { maxSteps } = agent.decider;
	const { run } = state;
	if (maxSteps === undefined || run === undefined || run.step < maxSteps) return false;
	return (
		run.last.kind === "assistant" && run.assistant?.message.hasToolCalls === false && !stepContinues(run)
	);
}

async function isStopAsked(run: Run): Promise<boolean> {
	const state = run.state.agent;
	const { hooks } = run.agent;
	if (
		hooks.stopCondition !== undefined &&
		(await untilAnswered(run, () => hooks.stopCondition?.(state))) === true
	) {
		return true;
	}
	const { stop } = run.interceptors;
	return stop !== undefined && (await run.untilStopped(stop(state))) === true;
}

/**
 * Returns what `onStepEnd` receives. The turn is built on access, because building it takes time proportional to its
 * length (keeps I5).
 */
function stepResult(state: SessionState): GenerateResult {
	let turn: Turn | undefined;
	return {
		get turn() {
			turn ??= wholeTurn({ state });
			return turn;
		},
		state: state.agent,
	};
}

function emitStepEnd(run: Run): Promise<unknown> | undefined {
	let passed: Promise<unknown> | undefined;
	if (run.watched) {
		const usage = run.state.run?.usage ?? { inputTokens: 0, outputTokens: 0, totalTokens: 0 };
		const { seq, sub } = run.at;
		passed = run.boundary({ type: "step_end", seq, sub, step: stepOf(run), usage });
	}
	run.afterStep?.(run.state.agent);
	return passed;
}

/** Returns the turn of a run so far; undefined until the model has answered. */
export function turnOf(run: { readonly state: SessionState }): Turn | undefined {
	const assistant = run.state.run?.assistant;
	return assistant === undefined ? undefined : turnWith(run.state, assistant);
}

/** Returns the structured answer of a run whose agent has an output; undefined until it is valid. */
export function outputOf({ state }: { readonly state: SessionState }): unknown {
	const output = state.run?.output;
	return output?.verdict?.ok === true ? output.value : undefined;
}

/** Returns the turn of an ended run, with an empty answer if no model was called. */
export function wholeTurn(run: { readonly state: SessionState }): Turn {
	return turnOf(run) ?? turnWith(run.state, { message: new AssistantMessage("") });
}

function turnWith(
	state: SessionState,
	answer: Pick<AssistantSaid, "message" | "data"> & Partial<AssistantSaid>,
): Turn {
	const run = state.run as RunState;
	const data = outputOf({ state }) ?? answer.data;
	const parts: TurnParts = {
		messages: runMessages(state),
		response: answer.message,
		toolExecutions: run.executions.toArray(),
		usage: { ...run.usage, cycles: cycleUsage(run) },
		cycles: run.cycles,
		data,
	};
	if (answer.stopReason !== undefined) parts.stopReason = readStopReason(answer.stopReason);
	return createTurn(parts);
}
