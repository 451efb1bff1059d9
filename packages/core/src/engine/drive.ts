// The only loop (keeps I1): read the state, decide, act, commit, and repeat until the run ends or is asked to stop. A
// crashed run takes the same path: its state contains the open work, and the loop continues from there.
import { type HoldfastError, isThenable } from "@holdfast/upp";
import {
	errorData,
	type Fact,
	finalOutputTag,
	OwnFoldFailed,
	type RunState,
	stepContinues,
} from "../facts/index.ts";
import type { MaybePromise } from "../host/index.ts";
import { invalidAction, toolsStep, waitStep } from "./act-without-model.ts";
import type { Action, AskAction, Decider, ModelAction, NoteAction } from "./action.ts";
import { withinCall } from "./call-scope.ts";
import { carryOutCalls, recordCarriedOut } from "./carry-out-calls.ts";
import { checkOutput, owesOutput } from "./check-output.ts";
import { commit, type DriveOutcome, stepOf } from "./end-run.ts";
import { leaveCompleted, recoverOrFail, saidAtTheEnd } from "./leave-run.ts";
import { type ModelAnswer, ModelCall } from "./model-call.ts";
import { waitForModel } from "./model-wait.ts";
import { prepareStep } from "./prepared-step.ts";
import type { Run } from "./run.ts";
import { beginStep, beginTurn, endStep, hasNoStepLeft, mayEndAtOnce, mayStepAtOnce } from "./step.ts";
import { CommitFailed, CutShort, Stopped } from "./stopped.ts";
import { untilAnswered } from "./until-answered.ts";

/** Drives a run to its end. The run's start must be committed. Never rejects. */
export async function drive(run: Run): Promise<DriveOutcome> {
	const { fairness } = run.agent;
	try {
		let done = await beginTurn(run); // awaited even if not a promise: the caller that starts a run may stop it right away
		for (;;) {
			const pause = fairness.pause();
			if (pause !== undefined) await pause;
			run.checkStopped();
			if (!done) {
				const advancing = advance(run);
				const advanced = advancing instanceof Promise ? await advancing : advancing;
				if (advanced === "ended") return { kind: "ended", outcome: "completed" };
				done = advanced;
			}
			if (done && owesOutput(run)) {
				if (run.lastWords !== undefined) {
					// The tag keeps the strategy from adding this text again after a crash.
					await commit(run, [saidAtTheEnd(run, run.lastWords, finalOutputTag)]);
					run.lastWords = undefined;
				}
				await checkOutput(run);
				done = false;
			}
			if (!done) continue;
			const finished = finish(run);
			const ended = finished instanceof Promise ? await finished : finished;
			if (ended !== undefined) return ended;
			done = false;
		}
	} catch (error) {
		return await recoverOrFail(run, error);
	}
}

/** Executes the next action. Returns true if the run must end, and `ended` if its end is already recorded. */
function advance(run: Run): MaybePromise<boolean | "ended"> {
	const { code } = run.agent.decider;
	if (code !== undefined) return runCode(run, code);
	const open = run.state.run;
	if (open !== undefined && open.unsettled > 0) return finishCalls(run, open);
	const action = decide(run);
	switch (action?.kind) {
		case "model":
			return modelStep(run, action);
		case "tools":
			return toolsStep(run, action);
		case "wait":
			return waitStep(run, action);
		case "note":
			return noteStep(run, action);
		case "ask":
			return askStep(run, action);
		case "finish":
			if (action.error !== undefined) throw action.error;
			run.lastWords = action.text;
			// A message requires one more model call, although the work seemed done.
			return run.interceptors.continues?.() === true ? modelStep(run, oneMoreStep(run)) : true;
		default:
			throw unknownAction(run.agent.decider.name, action);
	}
}

async function runCode(run: Run, code: NonNullable<Decider["code"]>): Promise<true> {
	if (run.state.run?.own instanceof OwnFoldFailed) throw run.state.run.own.error;
	await code(run);
	return true;
}

/** A custom decider may return anything; calling it again would loop forever. */
function unknownAction(strategy: string, given: unknown): HoldfastError {
	const kinds = '"model" | "tools" | "wait" | "note" | "ask" | "finish"';
	return invalidAction(
		strategy,
		`decided on ${nameOfAction(given)}. \`decide\` must return {kind: ${kinds}, ...} at once.`,
	);
}

function nameOfAction(given: unknown): string {
	if (typeof given !== "object" || given === null) return String(given);
	if (given instanceof Promise) {
		given.catch(() => {}); // nothing else handles its rejection
		return "a promise";
	}
	const { kind } = given as { kind?: unknown };
	return kind === undefined ? "an object without `kind`" : `the unknown kind ${JSON.stringify(String(kind))}`;
}

/** Executes the calls that were requested before the run was left. */
async function finishCalls(run: Run, open: RunState): Promise<boolean> {
	if (run.hasAnswers) {
		run.hasAnswers = false;
		await run.answers?.take(run, undefined);
	}
	if (run.state.run?.unsettled === 0) return stepContinues(open) ? false : endStep(run);
	await carryOutCalls(run, undefined);
	return stepContinues(open) ? false : endStep(run);
}

async function noteStep(run: Run, action: NoteAction): Promise<boolean> {
	await commit(run, [noteOf(run, action)]);
	if (action.topic === "reasoning") {
		await untilAnswered(run, () => run.agent.hooks.onReason?.(stepOf(run), String(action.value)));
	}
	return action.afterwards === "ends-step" ? endStep(run) : false;
}

async function askStep(run: Run, action: AskAction): Promise<boolean> {
	const { signal, runId, sessionKey } = run;
	const context = sessionKey === undefined ? { signal, runId } : { signal, runId, sessionKey };
	const asked = withinCall(run.processKey, () => action.question(run.state.agent, context));
	if (!isThenable(asked)) run.checkStopped();
	const answer = isThenable(asked) ? await run.untilStopped(asked) : asked;
	const decision: Decision = { kind: "decision", step: stepOf(run), topic: action.topic, answer };
	if (action.follows !== undefined && mayStepAtOnce(run)) {
		const admitted = run.admission?.prepare(decision) ?? decision;
		const ready = admitted instanceof Promise ? await admitted : admitted;
		const next = action.follows(ready.answer);
		if (next !== undefined) return toolsStep(run, next, [ready]);
		await commit(run, [ready]);
	} else await commit(run, [decision]);
	return false;
}

type Decision = Extract<Fact, { kind: "decision" }>;

function noteOf(run: Run, { topic, value, afterwards }: NoteAction): Fact {
	const note: Fact = { kind: "note", step: stepOf(run), topic, value };
	return afterwards === "ends-step" ? { ...note, endsStep: true } : note;
}

function decide(run: Run): Action {
	const state = run.state;
	const open = state.run;
	if (open === undefined) throw new Error("a run is driven only after it was started");
	if (open.own instanceof OwnFoldFailed) throw open.own.error;
	return run.agent.decider.decide({
		state: state.agent,
		step: open.step,
		rounds: open.rounds,
		last: open.last,
		answer: open.assistant,
		output: open.output,
		tools: run.agent.toolList,
		executions: () => open.executions.from(open.executionsBefore),
		own: open.own,
	});
}

function oneMoreStep({ agent }: Run): ModelAction {
	const { output } = agent;
	const action: ModelAction = { kind: "model", tag: "act", step: "next" };
	return output === undefined ? action : { ...action, structure: output.structure };
}

/**
 * Executes a model action and the calls of its answer. Returns true if the run must end, and `ended` if its end is
 * already recorded.
 */
async function modelStep(run: Run, action: ModelAction): Promise<boolean | "ended"> {
	const begun = action.step === "next" ? beginStep(run) : stepOf(run);
	const step = begun instanceof Promise ? await begun : begun;
	const { prepare } = run.agent;
	const changes = prepare === undefined ? undefined : await prepareStep(run, prepare, action, step);
	const call = new ModelCall(run, action, step, changes);
	let answered: MaybePromise<ModelAnswer>;
	try {
		answered = call.answer(await call.ask());
		if (answered instanceof Promise) answered = await answered;
	} catch (error) {
		return modelFailed(run, action, step, call, error);
	}
	if (call.retries.length > 0) await recordRetries(run, call.retries);
	const { answer, results } = answered;
	if (answer.message.hasToolCalls) {
		const carried =
			results === undefined ? carryOutCalls(run, answer) : recordCarriedOut(run, answer, results);
		if (carried instanceof Promise) await carried;
	} else if (action.answered === "finishes" && mayEndAtOnce(run)) {
		const ended = run.commitLast(answer, completed);
		if (ended instanceof Promise ? await ended : ended) return "ended";
	} else {
		const committed = run.commit([answer]);
		if (committed instanceof Promise) await committed;
	}
	return answer.continues === true ? false : endStep(run);
}

/** Records retries regardless of their outcome, as long as this run can record anything. */
async function recordRetries(run: Run, retries: readonly Fact[]): Promise<void> {
	if (run.stopReason === undefined || run.stopReason === "interrupt") await commit(run, retries);
}

/** Makes the run wait for its model, fails it with the error, or notes the error for the decider. */
async function modelFailed(
	run: Run,
	action: ModelAction,
	step: number,
	call: ModelCall,
	error: unknown,
): Promise<false> {
	const partial = await call.cutOff(error);
	if (call.retries.length > 0) await recordRetries(run, call.retries);
	const isOurs = error instanceof Stopped || error instanceof CommitFailed;
	if (!isOurs && (await waitForModel(run, step, error))) return false;
	if (action.failure !== "decides" || isOurs)
		throw partial === undefined ? error : new CutShort(error, { partial });
	await commit(run, [{ kind: "note", step, topic: "model-failed", value: errorData(error) }]);
	return false;
}

/** Ends the run. Returns undefined if an input arrived at the last moment and was accepted: the run continues. */
function finish(run: Run): MaybePromise<DriveOutcome | undefined> {
	run.checkStopped();
	if (run.interceptors.leaving !== undefined) return leaveCompleted(run);
	const ending = run.lastWords === undefined ? onlyCompleted : [saidAtTheEnd(run, run.lastWords), completed];
	const committed = run.commit(ending, hasNoStepLeft(run) ? undefined : { onlyIfNothingWaits: true });
	return committed === true
		? { kind: "ended", outcome: "completed" }
		: finishUnlessInputs(run, ending, committed);
}

const completed: Fact = { kind: "run.ended", outcome: "completed", marks: undefined }; // keeps V8's object shape stable
const onlyCompleted: readonly Fact[] = [completed];

async function finishUnlessInputs(
	run: Run,
	ending: readonly Fact[],
	committed: MaybePromise<boolean>,
): Promise<DriveOutcome | undefined> {
	if (!(await committed)) {
		await run.inputs.fetch();
		if (await run.inputs.take("step-end")) return undefined;
		await commit(run, ending);
	}
	return { kind: "ended", outcome: "completed" };
}
