// Executes the calls of one answer or of one request of the strategy, including the hooks before and after them (keeps
// I3, I8).
import { after, type ToolCall, UPPError } from "@holdfast/upp";
import {
	type AssistantSaid,
	type Fact,
	newCalls,
	noCalls,
	type RunState,
	type ToolsRequested,
} from "../facts/index.ts";
import type { MaybePromise } from "../host/index.ts";
import type { ToolsAction } from "./action.ts";
import { commit, stepOf } from "./end-run.ts";
import type { Observation } from "./engine-agent.ts";
import type { LeftOver } from "./round-end.ts";
import type { Run } from "./run.ts";
import { CommitFailed, CutShort, Parks, Stopped, Waits } from "./stopped.ts";
import { ToolRound } from "./tool-round.ts";
import { untilAnswered } from "./until-answered.ts";

/** Milliseconds that running tools have to finish when a run is suspended. */
const suspendGrace = 250;

/** The origin of calls: the model's answer, or the strategy. */
export type CallsAsked = AssistantSaid | ToolsRequested;

/** Facts that share an append with the calls. */
export interface CarryOutOptions {
	/** Admitted facts that are committed together with the fact that requests the calls, before it. */
	readonly before?: readonly Fact[] | undefined;
	readonly concludes?: ToolsAction["concludes"] | undefined;
}

const noFacts: readonly Fact[] = [];

function callsOf(asked: CallsAsked): readonly ToolCall[] {
	return asked.kind === "assistant" ? (asked.message.toolCalls ?? []) : asked.calls;
}

/** Calls in progress. */
interface CarriedOut {
	readonly round: ToolRound;
	readonly step: number;
	/** The origin of the calls, with the facts before it; undefined if it is already committed. */
	readonly fresh: CallsAsked | undefined;
	readonly asked: readonly Fact[];
}

/**
 * Starts the calls that a model or the strategy requested and waits for all results; returns a promise only if something
 * takes time. Without `asked`, continues with the open calls.
 */
export function carryOutCalls(
	run: Run,
	given: CallsAsked | undefined,
	options: CarryOutOptions = {},
): MaybePromise<void> {
	if (given === undefined || run.admission === undefined) return carryOut(run, given, options);
	return admitted(run, given, options.before ?? noFacts).then((fresh) => carryOut(run, fresh, options));
}

function carryOut(run: Run, fresh: CallsAsked | undefined, options: CarryOutOptions): MaybePromise<void> {
	const { before = noFacts } = options;
	const open = run.state.run;
	const step = fresh?.step ?? open?.step ?? 1;
	const calls = fresh === undefined ? (open?.calls ?? noCalls).list : newCalls(fresh, run.state.agent);
	const limit = run.agent.toolStrategy.maxIterations;
	if (fresh !== undefined && limit !== undefined && (open?.rounds ?? 0) >= limit)
		return refuseRound(run, before, fresh, limit);
	const round = new ToolRound(run, step, roundName(open, fresh), calls, options);
	const carried: CarriedOut = {
		round,
		step,
		fresh,
		asked: fresh === undefined ? before : [...before, fresh],
	};
	const ended = begun(run, carried);
	const isOver = !(ended instanceof Promise) && !isLeft(ended);
	return isOver && run.agent.hooks.onObserve === undefined ? undefined : followed(run, carried, ended);
}

/** Starts the calls. Returns the calls left for others to settle, once every other call has its result. */
function begin(run: Run, { round, step, fresh, asked }: CarriedOut): MaybePromise<LeftOver> {
	const { hooks } = run.agent;
	if (fresh === undefined || hooks.onAct === undefined) return start(run, round, asked);
	return untilAnswered(run, () => hooks.onAct?.(step, callsOf(fresh))).then(() => start(run, round, asked));
}

function start(run: Run, round: ToolRound, asked: readonly Fact[]): MaybePromise<LeftOver> {
	run.checkStopped();
	return after(round.begin(asked), () => {
		const pending = round.finished();
		return pending instanceof Promise ? run.untilStopped(pending) : pending;
	});
}

async function followed(run: Run, carried: CarriedOut, ended: MaybePromise<LeftOver>): Promise<void> {
	let current = carried;
	let ending = ended;
	for (;;) {
		let left: LeftOver;
		try {
			left = await ending;
		} catch (error) {
			throw await cutShort(run, current, error);
		}
		if (!isLeft(left)) break;
		current = await continued(run, current, left);
		ending = begun(run, current);
	}
	const { hooks } = run.agent;
	if (hooks.onObserve !== undefined)
		await untilAnswered(run, () => hooks.onObserve?.(carried.step, observations(run)));
}

/** Leaves the run to outside answers. If the inbox already has such answers, returns the calls to continue with. */
async function continued(run: Run, { step, round }: CarriedOut, left: LeftOver): Promise<CarriedOut> {
	const waiting = { kind: "waiting", step: stepOf(run), ...left } as const;
	if (run.stopReason !== undefined || run.answers === undefined) throw new Waits([waiting]);
	if (await run.commit([waiting], { onlyIfNothingWaits: true })) throw new Waits([]);
	if (!(await run.answers.take(run, { ...waiting, kind: "tools.pending" }))) throw new Waits([waiting]);
	return { round: round.again(), step, fresh: undefined, asked: noFacts };
}

/** Starts the calls. Turns an error into a rejection. */
function begun(run: Run, carried: CarriedOut): MaybePromise<LeftOver> {
	try {
		return begin(run, carried);
	} catch (error) {
		return Promise.reject(error);
	}
}

function isLeft({ calls, children }: LeftOver): boolean {
	return calls.length > 0 || (children !== undefined && children.length > 0);
}

/** Ends stopped or failed calls. Returns how the run ends or is left. */
export async function cutShort(
	run: Run,
	{ round, fresh, asked }: CarriedOut,
	error: unknown,
): Promise<unknown> {
	// The calls of a parked run stay open, so they are suspended and not cancelled.
	if (error instanceof Parks) run.stop("suspend");
	else if (!(error instanceof Stopped)) run.cancelWork(error);
	// The answer is kept even if none of its calls was started.
	const unsaid = fresh === undefined || isOnRecord(run, fresh) ? noFacts : asked;
	if (error instanceof Parks || (error instanceof Stopped && error.reason === "suspend")) {
		if (unsaid.length > 0) await commit(run, unsaid);
		await Promise.race([
			settled(round),
			new Promise<void>((resolve) => run.agent.ports.timers.after(suspendGrace, resolve)),
		]);
	}
	const staysOpen = error instanceof CommitFailed || error instanceof Parks;
	if ((error instanceof Stopped && error.reason !== "interrupt") || staysOpen) {
		const neverRan = round.abandon();
		return neverRan.length === 0 ? error : new CutShort(error, { neverRan });
	}
	const why =
		error instanceof Stopped
			? "The call was cancelled: the run was interrupted."
			: "The call was cancelled: the run failed.";
	await round.endChildren();
	// In the same commit as the end of the run: otherwise a crash in between would let the run continue.
	return new CutShort(error, { facts: [...unsaid, ...round.close("cancelled", why)] });
}

/** Resolves when the round has finished or failed. */
async function settled(round: ToolRound): Promise<void> {
	try {
		await round.finished();
	} catch {
		// The run is left open; the process that resumes it finds the recorded facts.
	}
}

/** Calls run in their admitted form. They are committed only when it is known which of them start. */
async function admitted(run: Run, given: CallsAsked, before: readonly Fact[]): Promise<CallsAsked> {
	try {
		return (await run.admission?.prepare(given)) ?? given;
	} catch (error) {
		await commitAnyway(run, before);
		throw error;
	}
}

/** Commits facts whose shared append will not happen. Ignores failures. */
export async function commitAnyway(run: Run, facts: readonly Fact[]): Promise<void> {
	if (facts.length === 0) return;
	try {
		await commit(run, facts);
	} catch {
		// The reason that the append is missing is reported instead.
	}
}

/** Whether the fact was committed. It may have received marks on the way. */
function isOnRecord(run: Run, fresh: CallsAsked): boolean {
	const { assistant, requested } = run.state.run ?? {};
	if (fresh.kind === "assistant") return assistant?.message.id === fresh.message.id;
	return requested?.calls === fresh.calls;
}

/**
 * Returns the name of a round within its run, which is the same after a crash. The calls' idempotency keys contain it.
 */
export function roundName(open: RunState | undefined, fresh: CallsAsked | undefined): string {
	const { cycles = 0, rounds = 0, requested } = open ?? {};
	const isRequested = fresh === undefined ? requested !== undefined : fresh.kind === "tools.requested";
	return isRequested ? `r${rounds + 1}` : `${cycles + (fresh === undefined ? 0 : 1)}`;
}

/** The limit of tool rounds is reached: the calls get results that report it, and the run fails. */
async function refuseRound(
	run: Run,
	before: readonly Fact[],
	asked: CallsAsked,
	limit: number,
): Promise<never> {
	const message = `The limit of ${limit} tool rounds (toolStrategy.maxIterations) is reached.`;
	const refused = callsOf(asked).map(
		({ toolCallId: callId }): Fact => ({
			kind: "tool.settled",
			step: asked.step,
			callId,
			outcome: "skipped",
			result: message,
			duration: 0,
		}),
	);
	await commit(run, [...before, asked, ...refused]);
	await untilAnswered(run, () => run.agent.toolStrategy.onMaxIterations?.(limit));
	throw new UPPError(`${message} Raise it, or end the task earlier.`, "INVALID_REQUEST", "holdfast", "llm");
}

/** Records an answer whose calls already ran, before it is emitted. */
export async function recordCarriedOut(
	run: Run,
	answer: AssistantSaid,
	results: readonly Fact[],
): Promise<void> {
	await commit(run, [answer, ...results]);
	const { hooks } = run.agent;
	await untilAnswered(run, () => hooks.onAct?.(answer.step, answer.message.toolCalls ?? []));
	await untilAnswered(run, () => hooks.onObserve?.(answer.step, observations(run)));
}

/** Returns the results of the step's tools, for `onObserve`. */
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
