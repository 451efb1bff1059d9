// The one loop (keeps I1): look at the state, decide, act, commit, go on, until the run ends or is told to stop.
// A run that crashed comes through the same door: the state says what is open, and the loop goes on from there.
import { HoldfastError, UPPError } from "@holdfast/upp";
import type { AssistantSaid, Fact } from "../facts/index.ts";
import { errorData } from "../facts/index.ts";
import type { MaybePromise } from "../host/index.ts";
import type { Action, AskAction, ModelAction, NoteAction } from "./action.ts";
import { commit, type DriveOutcome, stepOf, stopOrFail } from "./end-run.ts";
import type { Observation } from "./engine-agent.ts";
import { callModel, type ModelFailure } from "./model-call.ts";
import type { Run } from "./run.ts";
import { CommitFailed, CutShort, Stopped, Waits } from "./stopped.ts";
import { ToolRound } from "./tool-round.ts";
import { stepResult } from "./turn-so-far.ts";
import { untilAnswered } from "./until-answered.ts";

/** Milliseconds that running tools get to finish when a run is suspended. */
const suspendGrace = 250;

/** Drives a run whose start is committed to its end. Never rejects. */
export async function drive(run: Run): Promise<DriveOutcome> {
	const { fairness } = run.agent;
	try {
		let done = await begin(run); // also where it need not wait: who starts a run may stop it right away
		for (;;) {
			const pause = fairness.pause();
			if (pause !== undefined) await pause;
			run.checkStopped();
			if (!done) {
				const advanced = advance(run);
				done = advanced instanceof Promise ? await advanced : advanced;
			}
			if (!done) continue;
			const finished = finish(run);
			const ended = finished instanceof Promise ? await finished : finished;
			if (ended !== undefined) return ended;
			done = false;
		}
	} catch (error) {
		return await stopOrFail(run, error);
	}
}

/** Carries out the next thing to do. True when the run shall end. */
function advance(run: Run): MaybePromise<boolean> {
	const open = run.state.run;
	if (open !== undefined && open.unsettled > 0) return goOnWithCalls(run, open.assistant);
	const action = decide(run);
	switch (action?.kind) {
		case "model":
			return modelStep(run, action);
		case "note":
			return noteStep(run, action);
		case "ask":
			return askStep(run, action);
		case "finish":
			if (action.error !== undefined) throw action.error;
			// Something was said for one more look of the model, though its work seemed done.
			return run.interceptors.continues?.() === true ? modelStep(run, oneMoreStep) : true;
		default:
			throw invalidAction(run.agent.decider.name, action);
	}
}

/** A decider of the user's may answer anything; to ask it again would get the same answer for ever. */
function invalidAction(strategy: string, given: unknown): HoldfastError {
	return new HoldfastError(
		"invalid_action",
		`The strategy "${strategy}" decided on ${nameOfAction(given)}. ` +
			'`decide` must return {kind: "model" | "note" | "ask" | "finish", …} at once.',
		{ data: { strategy } },
	);
}

function nameOfAction(given: unknown): string {
	if (typeof given !== "object" || given === null) return String(given);
	if (given instanceof Promise) {
		given.catch(() => {}); // nobody else looks at it
		return "a promise";
	}
	const { kind } = given as { kind?: unknown };
	return kind === undefined ? "an object without `kind`" : `the unknown kind ${JSON.stringify(String(kind))}`;
}

async function goOnWithCalls(run: Run, answer: AssistantSaid | undefined): Promise<boolean> {
	await carryOutCalls(run, undefined);
	return answer?.continues === true ? false : endStep(run);
}

async function noteStep(run: Run, action: NoteAction): Promise<boolean> {
	await commit(run, [noteOf(run, action)]);
	if (action.topic === "reasoning") {
		await untilAnswered(run, () => run.agent.hooks.onReason?.(stepOf(run), String(action.value)));
	}
	return action.afterwards === "ends-step" ? endStep(run) : false;
}

async function askStep(run: Run, action: AskAction): Promise<boolean> {
	const answer = await untilAnswered(run, () => action.question(run.state.agent));
	await commit(run, [{ kind: "decision", step: stepOf(run), topic: action.topic, answer }]);
	return false;
}

function noteOf(run: Run, { topic, value, afterwards }: NoteAction): Fact {
	const note: Fact = { kind: "note", step: stepOf(run), topic, value };
	return afterwards === "ends-step" ? { ...note, endsStep: true } : note;
}

/** Opens the turn, or closes the step that a crash left without its end. True when the run shall end. */
function begin(run: Run): MaybePromise<boolean> {
	const state = run.state.run;
	if (state === undefined) return false;
	if (state.attempt > 1) {
		// The step whose last fact stands was never told to have ended.
		const { last, assistant, unsettled } = state;
		const answered = last.kind === "results" || (last.kind === "assistant" && unsettled === 0);
		const ended = last.endsStep === true || (answered && assistant?.continues !== true);
		return ended ? endStep(run) : false;
	}
	if (run.interceptors.turnBefore !== undefined) return beginWithInterceptor(run);
	const passed = tellTurnStart(run);
	return passed === undefined && !run.hasInputs ? false : afterTurnStart(run, passed);
}

async function beginWithInterceptor(run: Run): Promise<boolean> {
	await run.untilStopped(run.interceptors.turnBefore?.());
	return afterTurnStart(run, tellTurnStart(run));
}

function tellTurnStart(run: Run): Promise<unknown> | undefined {
	const { seq, sub } = run.at;
	return run.boundary({ type: "turn_start", seq, sub });
}

async function afterTurnStart(run: Run, passed: Promise<unknown> | undefined): Promise<false> {
	if (passed !== undefined) await passed;
	if (run.hasInputs) await run.takeInputs("turn-start");
	return false;
}

function decide(run: Run): Action {
	const state = run.state;
	const open = state.run;
	if (open === undefined) throw new Error("a run is driven only after it was started");
	return run.agent.decider.decide({
		state: state.agent,
		step: open.step,
		rounds: open.rounds,
		last: open.last,
		answer: open.assistant,
		tools: run.agent.toolList,
		executions: () => open.executions.from(open.executionsBefore),
	});
}

const oneMoreStep: ModelAction = { kind: "model", tag: "act", step: "next" };

/** Carries out a model action and the calls of its answer. True when the run shall end. */
async function modelStep(run: Run, action: ModelAction): Promise<boolean> {
	const step = action.step === "next" ? stepOf(run) + 1 : stepOf(run);
	if (action.step === "next") {
		const { hooks } = run.agent;
		if (hooks.onStepStart !== undefined)
			await untilAnswered(run, () => hooks.onStepStart?.(step, run.state.agent.withStep(step)));
		if (run.interceptors.stepBefore !== undefined) await run.untilStopped(run.interceptors.stepBefore(step));
		run.checkStopped();
		if (run.watched) {
			const { seq, sub } = run.at;
			const passed = run.boundary({ type: "step_start", seq, sub, step });
			if (passed !== undefined) await passed;
		}
		if (run.hasInputs) await run.takeInputs("step-start");
	}
	const called = await callModel(run, action, step);
	if (called.retries.length > 0) await recordRetries(run, called.retries);
	if (called.answer === undefined) return modelFailed(run, action, step, called);
	const { answer, results } = called;
	if (answer.message.hasToolCalls) {
		if (results === undefined) await carryOutCalls(run, await admitted(run, answer));
		else await recordCarriedOut(run, answer, results);
	} else {
		const committed = run.commit([answer]);
		if (committed instanceof Promise) await committed;
	}
	return answer.continues === true ? false : endStep(run);
}

/** An answer that policy may change is committed before its calls are looked at: they are carried out as it was admitted. */
async function admitted(run: Run, answer: AssistantSaid): Promise<AssistantSaid> {
	if (run.admission === undefined) return answer;
	await commit(run, [answer]);
	return run.state.run?.assistant ?? answer;
}

/** Retries are on record whatever came of them, while this run may record anything. */
async function recordRetries(run: Run, retries: readonly Fact[]): Promise<void> {
	if (run.stopReason === undefined || run.stopReason === "interrupt") await commit(run, retries);
}

/** The run fails with the error, or it is noted for the decider to look at. */
async function modelFailed(
	run: Run,
	action: ModelAction,
	step: number,
	{ error, partial }: ModelFailure,
): Promise<false> {
	if (action.failure !== "decides" || error instanceof Stopped || error instanceof CommitFailed)
		throw partial === undefined ? error : new CutShort(error, { partial });
	await commit(run, [{ kind: "note", step, topic: "model-failed", value: errorData(error) }]);
	return false;
}

/** An answer whose calls were carried out already: it is recorded before anybody is told. */
async function recordCarriedOut(run: Run, answer: AssistantSaid, results: readonly Fact[]): Promise<void> {
	await commit(run, [answer, ...results]);
	const { hooks } = run.agent;
	await untilAnswered(run, () => hooks.onAct?.(answer.step, answer.message.toolCalls ?? []));
	await untilAnswered(run, () => hooks.onObserve?.(answer.step, observations(run)));
}

/** Starts the calls of an answer and waits for all results. Without an answer: goes on with the open calls. */
async function carryOutCalls(run: Run, answer: AssistantSaid | undefined): Promise<void> {
	const open = run.state.run;
	/** What the model said, where it is not committed yet. */
	const fresh = open?.assistant === answer ? undefined : answer;
	const step = answer?.step ?? open?.step ?? 1;
	const calls = answer?.message.toolCalls?.map((call) => ({ call })) ?? open?.calls ?? [];
	const { hooks, toolStrategy } = run.agent;
	const limit = toolStrategy.maxIterations;
	if (answer !== undefined && limit !== undefined && (open?.rounds ?? 0) >= limit) {
		await refuseRound(run, answer, fresh === undefined ? [] : [fresh], limit);
	}
	const round = new ToolRound(run, step, (open?.cycles ?? 0) + (fresh === undefined ? 0 : 1), calls);
	try {
		if (answer !== undefined && hooks.onAct !== undefined) {
			await untilAnswered(run, () => hooks.onAct?.(step, answer.message.toolCalls ?? []));
		}
		run.checkStopped();
		const begun = round.begin(fresh);
		if (begun !== undefined) await begun;
		const pending = await run.untilStopped(round.finished);
		if (pending.length > 0) throw new Waits(pending);
	} catch (error) {
		if (error instanceof Waits) throw error;
		if (!(error instanceof Stopped)) run.cancelWork(error);
		// What the model said is kept, also where none of its calls was started.
		const unsaid =
			fresh === undefined || run.state.run?.assistant?.message.id === fresh.message.id ? [] : [fresh];
		if (error instanceof Stopped && error.reason === "suspend") {
			if (unsaid.length > 0) await commit(run, unsaid);
			await Promise.race([
				round.finished.catch(() => {}),
				new Promise<void>((resolve) => run.agent.ports.timers.after(suspendGrace, resolve)),
			]);
		}
		if ((error instanceof Stopped && error.reason !== "interrupt") || error instanceof CommitFailed) {
			round.abandon();
			throw error;
		}
		const why =
			error instanceof Stopped
				? "The call was cancelled: the run was interrupted."
				: "The call was cancelled: the run failed.";
		// With the end of the run in one commit: else a crash in between would let it go on.
		throw new CutShort(error, { facts: [...unsaid, ...round.close("cancelled", why)] });
	}
	if (hooks.onObserve !== undefined)
		await untilAnswered(run, () => hooks.onObserve?.(step, observations(run)));
}

/** The limit of tool rounds is reached: the calls get results that say so, and the run fails. */
async function refuseRound(
	run: Run,
	answer: AssistantSaid,
	uncommitted: readonly Fact[],
	limit: number,
): Promise<never> {
	const message = `The limit of ${limit} tool rounds (toolStrategy.maxIterations) is reached.`;
	await commit(run, [
		...uncommitted,
		...(answer.message.toolCalls ?? []).map(
			(call): Fact => ({
				kind: "tool.settled",
				step: answer.step,
				callId: call.toolCallId,
				outcome: "skipped",
				result: message,
				duration: 0,
			}),
		),
	]);
	await untilAnswered(run, () => run.agent.toolStrategy.onMaxIterations?.(limit));
	throw new UPPError(`${message} Raise it, or end the task earlier.`, "INVALID_REQUEST", "holdfast", "llm");
}

/** Tells the end of the step and asks whether to stop. True when the run shall end. */
function endStep(run: Run): MaybePromise<boolean> {
	const { onStepEnd, stopCondition } = run.agent.hooks;
	if (onStepEnd !== undefined || run.interceptors.stepAfter !== undefined) return endStepWithHooks(run);
	const passed = tellStepEnd(run);
	const asked = stopCondition !== undefined || run.interceptors.stop !== undefined;
	return passed === undefined && !run.hasInputs && !asked ? false : afterStepEnd(run, passed);
}

async function endStepWithHooks(run: Run): Promise<boolean> {
	await untilAnswered(run, () => run.agent.hooks.onStepEnd?.(stepOf(run), stepResult(run.state)));
	await run.untilStopped(run.interceptors.stepAfter?.(stepOf(run)));
	return afterStepEnd(run, tellStepEnd(run));
}

async function afterStepEnd(run: Run, passed: Promise<unknown> | undefined): Promise<boolean> {
	if (passed !== undefined) await passed;
	const stop = await isStopAsked(run);
	// What was said goes before a wish to stop: a run ends only when nothing waits (keeps I4).
	return run.hasInputs && (await run.takeInputs("step-end")) ? false : stop;
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

function tellStepEnd(run: Run): Promise<unknown> | undefined {
	let passed: Promise<unknown> | undefined;
	if (run.watched) {
		const usage = run.state.run?.usage ?? { inputTokens: 0, outputTokens: 0, totalTokens: 0 };
		const { seq, sub } = run.at;
		passed = run.boundary({ type: "step_end", seq, sub, step: stepOf(run), usage });
	}
	run.afterStep?.(run.state.agent);
	return passed;
}

/** Ends the run; undefined when an input came in at the last moment and was taken: the run goes on. */
function finish(run: Run): MaybePromise<DriveOutcome | undefined> {
	run.checkStopped();
	const committed = run.commit([completed], { onlyIfNothingWaits: true });
	return committed === true ? { kind: "ended", outcome: "completed" } : finishUnlessInputs(run, committed);
}

const completed: Fact = { kind: "run.ended", outcome: "completed" };

async function finishUnlessInputs(
	run: Run,
	committed: MaybePromise<boolean>,
): Promise<DriveOutcome | undefined> {
	if (!(await committed)) {
		await run.fetchInputs();
		if (await run.takeInputs("step-end")) return undefined;
		await commit(run, [completed]);
	}
	return { kind: "ended", outcome: "completed" };
}

/** What the tools of the step gave, for `onObserve`. */
function observations(run: Run): readonly Observation[] {
	const open = run.state.run;
	if (open === undefined) return [];
	return open.executions.from(open.executions.length - open.calls.length).map((each) => ({
		toolCallId: each.toolCallId,
		result: each.result,
		isError: each.isError,
		toolName: each.toolName,
		arguments: each.arguments,
		duration: each.duration,
	}));
}
