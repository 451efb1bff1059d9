// Ends a recorded run through policy: the results of `after` and `onError` are recorded before the end (keeps I2), so
// every projection and every process sees them. If the process dies before that, they are called again.
import { AssistantMessage, emptyUsage, replacing } from "@holdfast/upp";
import {
	errorData,
	type Fact,
	finalOutputTag,
	outputTopic,
	type RunState,
	stoppedFacts,
} from "../facts/index.ts";
import type { GenerateResult } from "../state/index.ts";
import { plainJson } from "../tools/index.ts";
import { withinCall } from "./call-scope.ts";
import { resultOf } from "./conclude.ts";
import { commit, type DriveOutcome, stepOf, stopOrFail } from "./end-run.ts";
import type { Run } from "./run.ts";
import { hasNoStepLeft, outputOf, turnOf } from "./step.ts";
import { CommitFailed, CutShort, Parks, Stopped, Waits } from "./stopped.ts";

const completed: DriveOutcome = { kind: "ended", outcome: "completed" };

/** Ends a completed run. Returns undefined if an input arrived before policy was asked; the run then continues. */
export async function leaveCompleted(run: Run): Promise<DriveOutcome | undefined> {
	if (!hasNoStepLeft(run)) {
		await run.inputs.fetch();
		if (await run.inputs.take("step-end")) return undefined;
	}
	if (run.lastWords !== undefined) {
		// The tag keeps the strategy from adding this text again after a crash.
		await commit(run, [saidAtTheEnd(run, run.lastWords, finalOutputTag)]);
		run.lastWords = undefined;
	}
	const result = await leave(run, completed);
	// Later inputs to the run become a turn of their own, because policy has seen the end of this one.
	return end(run, result, changesOf(run, result));
}

/** Ends a run after an error: the run completes if `onError` returns a result, and fails otherwise. Never rejects. */
export function recoverOrFail(run: Run, thrown: unknown): Promise<DriveOutcome> {
	const error = thrown instanceof CutShort ? thrown.cause : thrown;
	const isOurs = [Stopped, CommitFailed, Waits, Parks].some((kind) => error instanceof kind);
	// No extra turn of the event loop: a reader of the run's end may use its session at once.
	return isOurs || run.left !== undefined || !isAsked(run) ? stopOrFail(run, thrown) : recover(run, thrown);
}

async function recover(run: Run, thrown: unknown): Promise<DriveOutcome> {
	const { cause: error, facts = [], partial } = thrown instanceof CutShort ? thrown : { cause: thrown };
	try {
		const result = await leave(run, { kind: "ended", outcome: "error", error });
		if (facts.length > 0) await commit(run, facts);
		// Keeps the failure visible, and closes its model call.
		const failed: Fact = { kind: "note", step: stepOf(run), topic: "model-failed", value: errorData(error) };
		const open = stoppedFacts(run.state.run as RunState);
		return await end(run, result, [...open, failed, ...changesOf(run, result, "said")]);
	} catch (failure) {
		if (failure === error) return stopOrFail(run, thrown);
		const about = partial === undefined ? { facts } : { facts, partial };
		return stopOrFail(run, new CutShort(failure, about));
	}
}

/** Creates a message of a strategy or policy. It costs nothing, because no model was called. */
export function saidAtTheEnd(run: Run, text: string, tag = "answer", replaced?: string): Fact {
	const { clock, ids } = run.agent.ports;
	const about = { id: ids.uuid(), timestamp: new Date(clock.now()) };
	const metadata = replaced === undefined ? {} : { metadata: replacing(replaced) };
	return {
		kind: "assistant",
		step: stepOf(run),
		tag,
		message: new AssistantMessage(text, undefined, { ...about, ...metadata }),
		usage: emptyUsage(),
		stopReason: "stop",
		modelId: run.agent.decider.name,
		duration: 0,
		cost: 0,
	};
}

/** Whether any hook or interceptor may replace the error of a recorded run. */
function isAsked({ agent, interceptors, sessionKey }: Run): boolean {
	return sessionKey !== undefined && (interceptors.leaving ?? agent.hooks.onError) !== undefined;
}

async function leave(run: Run, outcome: DriveOutcome): Promise<GenerateResult> {
	run.left = "asked";
	// The hook `onError` belongs to the run, like policy: a hook that waits for the run is refused.
	const result = (): Promise<GenerateResult> => withinCall(run.processKey, () => resultOf(run, outcome));
	return run.untilStopped(run.interceptors.leaving?.(result) ?? result());
}

async function end(run: Run, result: GenerateResult, facts: readonly Fact[]): Promise<DriveOutcome> {
	await commit(run, [...facts, { kind: "run.ended", outcome: "completed" }]);
	run.left = result;
	return completed;
}

/**
 * Returns the parts of a result that are not recorded yet. `said`: including its text, even if it equals the model's
 * text.
 */
function changesOf(run: Run, result: GenerateResult, text?: "said"): Fact[] {
	const last = turnOf(run)?.response;
	const before = last?.text ?? "";
	const given = result.turn?.response?.text ?? before;
	// A failed answer is incomplete and is not in the history, so no message is replaced by what `onError` returns.
	const replaced = text === "said" || before === "" ? undefined : last?.id;
	const facts =
		text === "said" || given !== before ? [saidAtTheEnd(run, given, finalOutputTag, replaced)] : [];
	const { output } = result;
	if (output === undefined) return facts;
	const value = plainJson(output);
	if (facts.length > 0 || JSON.stringify(value) !== JSON.stringify(outputOf(run)))
		facts.push({ kind: "decision", step: stepOf(run), topic: outputTopic, answer: { ok: true, value } });
	return facts;
}
