// Outside requests to a session with a waiting run: list its waiting calls, answer them, end the run (keeps I4).
import type { AcceptedInput, PendingToolCall, SessionState, ToolAnswer, Watcher } from "../facts/index.ts";
import {
	answerFacts,
	checkAnswerList,
	dueFacts,
	hasNoSession,
	pendingCalls,
	takesAnswers,
} from "../facts/index.ts";
import type { AgentRun } from "./agent-run.ts";
import { answerElsewhere } from "./answer-elsewhere.ts";
import { splitAnswers, takenUnderWay } from "./early-answers.ts";
import { abortRun } from "./kill-session.ts";
import type { SessionActor } from "./session-actor.ts";
import { noPendingToolCalls, sessionBusy } from "./session-errors.ts";
import type { SessionQueue } from "./session-queue.ts";
import type { SessionTable } from "./session-table.ts";
import {
	answered,
	checkExpired,
	continued,
	isNotWaiting,
	type Settle,
	type Settlement,
	stopped,
	taken,
	timedOut,
} from "./settlement.ts";
import { hasArrived, readAnswers, storedAnswers } from "./waiting-answers.ts";

/** Returns the calls that wait for outside answers. */
export async function pending({ actor }: SessionQueue): Promise<readonly PendingToolCall[]> {
	if (actor.isEnding) await actor.turn?.over;
	actor.ensureUsable();
	const state = actor.turn?.run.state ?? (await actor.lease.read());
	let own = pendingCalls(state);
	if (own.length > 0 && state.run?.status === "running") {
		// Answers from other processes are accepted when the round has ended.
		const inbox = await actor.table.journal.inbox(actor.storeKey);
		const answers = storedAnswers(inbox, state.run.runId).flatMap(readAnswers);
		const answered = new Set(answers.map(({ toolCallId }) => toolCallId));
		own = own.filter(({ toolCallId }) => !answered.has(toolCallId));
	}
	const others = (await actor.table.agent.children?.pendingInBackground(actor.storeKey)) ?? [];
	return others.length === 0 ? own : [...own, ...others];
}

/** Returns the calls that background work waits for. */
export async function inBackground({ actor }: SessionQueue): Promise<readonly PendingToolCall[]> {
	return (await actor.table.agent.children?.pendingInBackground(actor.storeKey)) ?? [];
}

/** Continues a waiting run with these answers, or passes them to a run in progress. */
export async function answer(
	queue: SessionQueue,
	answers: readonly ToolAnswer[],
	watcher: Watcher | undefined,
): Promise<AgentRun> {
	checkAnswerList(answers);
	return queue.ask("answer", async (actor) => {
		if (actor.isEnding) await actor.ended();
		const { journal, agent } = actor.table;
		const now = (): number => agent.engine.ports.clock.now();
		try {
			const given =
				actor.turn === undefined ? await answerElsewhere(actor, answers, now, continueAnswered) : answers;
			if (!Array.isArray(given)) return given as AgentRun;
			const { own, moved, background } = await routed(actor, given, now);
			if (background !== undefined) return background;
			const underWay = await answerUnderWay(actor, { own, moved }, now, watcher);
			if (underWay !== undefined) return underWay;
			const settling =
				own.length > 0 || answers.length === 0 ? answered(own, now, watcher) : continued(watcher);
			return await settle(actor, settling, "waiting-or-shown");
		} catch (error) {
			if (isNotWaiting(error)) await checkExpired(journal, actor.storeKey, answers);
			// A sub-agent may have continued with them although its parent could not.
			await takeLate(actor).catch(() => {});
			throw error;
		}
	});
}

/** The answers that remain for the session's own run. */
interface Routed {
	readonly own: readonly ToolAnswer[];
	/** Calls of that run whose sub-agents have received their answers. */
	readonly moved: ReadonlySet<string>;
	/** The background run that continues, if the session's own run has nothing to continue with. */
	readonly background?: AgentRun | undefined;
}

const nothingMoved: ReadonlySet<string> = new Set();

/** Delivers the answers for sub-agents' calls to them. */
async function routed(
	actor: SessionActor,
	answers: readonly ToolAnswer[],
	now: () => number,
): Promise<Routed> {
	const { children } = actor.table.agent;
	if (children === undefined) return { own: answers, moved: nothingMoved };
	const state = actor.turn?.run.state ?? (await actor.lease.read());
	const run = takesAnswers(state) ? state.run : undefined;
	const split = splitAnswers(run, answers);
	const inBackground = new Set(
		(await children.pendingInBackground(actor.storeKey)).map(({ toolCallId }) => toolCallId),
	);
	const nested = [...split.nested, ...split.own.filter(({ toolCallId }) => inBackground.has(toolCallId))];
	if (nested.length === 0) return { own: answers, moved: nothingMoved };
	const own = split.own.filter(({ toolCallId }) => !inBackground.has(toolCallId));
	const to = { storeKey: actor.storeKey, run };
	const runs = await children.answer(to, nested, () => {
		if (own.length === 0) return;
		if (run === undefined) throw noPendingToolCalls(actor.sessionKey);
		answerFacts(state, own, now());
	});
	const background = own.length === 0 && runs.foreground === 0 ? runs.background : undefined;
	return { own, moved: split.moved, background };
}

/** Passes the answers to the running run. Returns undefined if there is none or it already waits. */
async function answerUnderWay(
	actor: SessionActor,
	{ own, moved }: Routed,
	now: () => number,
	watcher: Watcher | undefined,
): Promise<AgentRun | undefined> {
	const { turn, answers } = actor;
	if (turn === undefined || (moved.size === 0 && !takesAnswers(turn.run.state))) return undefined;
	const { run } = turn;
	const handle = actor.handle(run.runId);
	if (watcher !== undefined) handle.observe(watcher);
	const leave = handle.follow(run, turn.handle);
	let isTaken = false;
	try {
		isTaken = await takenUnderWay(actor, turn, async () => {
			// Answers accepted elsewhere come first.
			await answers.take(run, undefined);
			const waits = run.state.run?.children?.some(({ callId }) => moved.has(callId)) === true;
			const hasMoved = !waits || (await run.round?.childrenMoved(moved)) === true;
			return hasMoved && (own.length === 0 || (await answers.give(run, own, now)));
		});
	} finally {
		if (!isTaken) leave();
	}
	return isTaken ? handle : undefined;
}

/**
 * Continues the waiting run if what it waits for is in its inbox, or soon if a sub-agent has it. If that fails, whoever
 * resumes the run continues it. Never rejects.
 */
export async function continueAnswered(queue: SessionQueue): Promise<void> {
	try {
		await queue.ask("look", (actor) => takeLate(actor, "leave-news"));
	} catch {} // it stays in the inbox
}

/** Milliseconds that whoever answered a sub-agent has to continue the run that waits with it. */
const soon = 100;

/** Like `continueAnswered`, for a request that has the queue. */
export async function takeLate(actor: SessionActor, news: "take" | "leave-news" = "take"): Promise<void> {
	const { table, storeKey, lease } = actor;
	if (actor.turn !== undefined) return;
	// From then on, other processes can continue the run with what they put into the inbox.
	await lease.released();
	const inbox = await table.journal.inbox(storeKey);
	const state = await lease.read();
	const { run } = state;
	if (run?.status !== "waiting") return;
	if (!hasArrived(table.agent, run, inbox)) {
		if (!(await hasNews(table, state))) return;
		const again = async (): Promise<void> => actor.queue.ask("look", (later) => takeLate(later));
		if (news === "leave-news") return table.later.set(`news ${storeKey}`, again, undefined, soon);
	}
	const resumed = await settle(actor, continued());
	resumed.detach();
	table.resumed(resumed);
}

/**
 * Returns what lets a waiting run continue by itself: work that is due, or progress of its sub-agents. Undefined if the
 * run must keep waiting.
 */
export async function continuation({ lease, table, mailbox }: SessionActor): Promise<Settlement | undefined> {
	const { clock } = table.agent.engine.ports;
	const { state } = lease;
	const settlement = timedOut(() => clock.now())(state);
	if (settlement.facts.length > 0) return settlement;
	if (state.run !== undefined && hasArrived(table.agent, state.run, mailbox.notices)) return settlement;
	return (await hasNews(table, state)) ? settlement : undefined;
}

async function hasNews({ agent }: SessionTable, state: SessionState): Promise<boolean> {
	const { run } = state;
	if (run === undefined) return false;
	const now = agent.engine.ports.clock.now();
	const timed = (run.children ?? []).filter(hasNoSession);
	if (timed.some(({ wait }) => wait?.until !== undefined && wait.until <= now)) return true;
	const children = (run.children ?? []).filter((child) => !hasNoSession(child));
	// If the agent no longer has sub-agents, the call gets its result without them.
	return (
		children.length > 0 && ((await agent.children?.hasNews({ ...state, run: { ...run, children } })) ?? true)
	);
}

/**
 * Ends the run that is active, waiting, parked, or driven by another worker. Resolves with true when its end is on
 * record, and with false without such a run.
 */
export async function stop(queue: SessionQueue): Promise<boolean> {
	let stopping: { readonly over: Promise<unknown> | undefined } | "elsewhere" | "nothing";
	try {
		stopping = await queue.ask("stop", stopNow);
	} catch (error) {
		// The request comes from a hook that the queue waits for.
		if (!isBusy(error)) throw error;
		stopping = "elsewhere";
	}
	if (stopping === "nothing") return false;
	if (stopping === "elsewhere") {
		const { table, lease, storeKey } = queue.actor;
		const { engine } = table.agent;
		return abortRun(table.journal, storeKey, engine, async () => lease.cutOff(await lease.read()));
	}
	await stopping.over;
	return true;
}

/** Stops the open run; `over` settles when it has ended. `elsewhere`: another worker has it. */
async function stopNow(
	actor: SessionActor,
): Promise<{ readonly over: Promise<unknown> | undefined } | "elsewhere" | "nothing"> {
	if (actor.isEnding) await actor.ended();
	const { turn } = actor;
	if (turn !== undefined) {
		turn.handle.interrupt();
		return { over: turn.over };
	}
	await endChildren(actor);
	try {
		const ended = await settle(actor, stopped, "waiting-or-parked");
		return { over: ended.result() };
	} catch (error) {
		// A run that is open but does not wait belongs to another worker or was left by a dead one.
		if (isNotWaiting(error)) return actor.lease.openRunId === undefined ? "nothing" : "elsewhere";
		if (isBusy(error)) return "elsewhere";
		throw error;
	}
}

/** First ends the work that a run waits for: a crash between the two must not leave work whose run has ended. */
async function endChildren({ table, lease }: SessionActor): Promise<void> {
	if (table.agent.children === undefined) return;
	const state = await lease.read();
	if (state.run?.status === "waiting") await table.agent.children.end(state);
}

/**
 * Ends the active run at once. Without one, ends a waiting run after earlier requests. Does nothing if the session is
 * idle or another worker drives the run. A waiting run whose end cannot be recorded continues to wait; `stop` rejects
 * in that case.
 */
export function interrupt(queue: SessionQueue, runId?: string): void {
	const { made } = queue;
	const turn = made?.turn;
	if (turn === undefined || made?.isEnding === true)
		interruptWait(queue, runId ?? turn?.run.runId).catch(() => {});
	else if (runId === undefined || turn.run.runId === runId) turn.handle.interrupt();
}

async function interruptWait(queue: SessionQueue, runId: string | undefined): Promise<void> {
	await queue.ask("interrupt", async (actor) => {
		if (actor.isEnding) await actor.ended();
		const { turn, table, storeKey, sessionKey } = actor;
		if (turn !== undefined) {
			if (runId === undefined || turn.run.runId === runId) turn.handle.interrupt();
			return;
		}
		const open = (await table.journal.head(storeKey))?.openRunId;
		if (open === undefined || (runId !== undefined && open !== runId)) return;
		await endChildren(actor);
		const isSame: Settle = (state) => {
			if (state.run?.runId !== open) throw noPendingToolCalls(sessionKey);
			return stopped(state);
		};
		(await settle(actor, isSame)).detach();
	});
}

/** Continues the run with this input if its strategy waits for one; otherwise returns null. */
export async function take(
	actor: SessionActor,
	input: AcceptedInput,
	stage: "new" | "stored" = "new",
	watcher?: Watcher,
): Promise<AgentRun | null> {
	const { table, storeKey, sessionKey } = actor;
	if ((await table.journal.head(storeKey))?.openRunId === undefined) return null;
	try {
		return await settle(
			actor,
			taken(input, { stage, watcher }, () => noPendingToolCalls(sessionKey)),
		);
	} catch (error) {
		if (isNotWaiting(error) || isBusy(error)) return null;
		throw error;
	}
}

/** Fails expired calls. Does nothing if no call waits any longer. */
export async function expire(queue: SessionQueue): Promise<void> {
	try {
		await queue.ask("expire", async (actor) => {
			const { clock } = actor.table.agent.engine.ports;
			const now = (): number => clock.now();
			if (actor.isEnding) await actor.ended();
			if (await expireUnderWay(actor, now)) return;
			const run = await settle(actor, timedOut(now));
			// The run has no requester; background workers are notified that it continues.
			run.detach();
			actor.table.resumed(run);
		});
	} catch (error) {
		if (!isNotWaiting(error)) throw error;
	}
}

/** Continues the running run without the expired calls. Returns false if there is none or it already waits. */
async function expireUnderWay(actor: SessionActor, now: () => number): Promise<boolean> {
	const { turn, answers, table } = actor;
	if (turn === undefined) return false;
	const { run } = turn;
	const isTaken = await takenUnderWay(actor, turn, async () => {
		// Answers that were accepted earlier take precedence.
		await answers.take(run, undefined);
		const { state } = run;
		if (state.run === undefined || !takesAnswers(state)) return true;
		const moved = new Set<string>();
		for (const child of state.run.children ?? [])
			if (await hasNews(table, { ...state, run: { ...state.run, children: [child] } }))
				moved.add(child.callId);
		if ((await run.round?.childrenMoved(moved)) !== true) return false;
		const due = dueFacts(run.state.run ?? state.run, now());
		if (due.length === 0) return true;
		const outcome = await run.round?.answered(due);
		return outcome === "taken" || outcome === "late";
	});
	if (isTaken) actor.watchDeadline(run.state);
	return isTaken;
}

/**
 * Resumes the waiting run with what arrived for it from outside. Rejects with the errors of `settling`, with
 * `no_pending_tool_calls` if no run waits, and with `session_busy` while a run is in progress.
 */
async function settle(
	actor: SessionActor,
	settling: Settle,
	of: "waiting" | "waiting-or-parked" | "waiting-or-shown" = "waiting",
): Promise<AgentRun> {
	actor.ensureUsable();
	const { lease, table, sessionKey } = actor;
	if (actor.turn !== undefined) throw sessionBusy(sessionKey);
	lease.drop();
	for (;;) {
		await table.agent.engine.fairness.pause();
		await table.agent.setup?.over();
		if ((await actor.open()) === "held") throw sessionBusy(sessionKey);
		const { isWaiting, state } = lease;
		const isSettled =
			isWaiting ||
			(of === "waiting-or-parked" && state.run?.parked !== undefined) ||
			(of === "waiting-or-shown" && takesAnswers(state));
		if (!isSettled) throw noPendingToolCalls(sessionKey);
		const runId = state.run?.runId ?? "";
		if (isWaiting && (await table.records?.take(runId)) === false) {
			lease.drop();
			throw sessionBusy(sessionKey);
		}
		const settlement = settling(state);
		// A crash that left a call behind counts as a crash even if an answer continues the run.
		const parked = isWaiting || of !== "waiting-or-shown" ? "released" : "stays";
		const resumed = await actor.resumeOpen(parked, settlement);
		if (resumed !== undefined) return resumed;
		const { drain: [inputId] = [] } = settlement;
		const isTaken = async (id: string): Promise<boolean> =>
			(await table.journal.inbox(actor.storeKey)).every((input) => input.id !== id);
		// The run has received the input from the inbox, and may wait for another one.
		if (inputId !== undefined && (await isTaken(inputId))) throw noPendingToolCalls(sessionKey);
	}
}

function isBusy(error: unknown): boolean {
	return (error as { code?: unknown }).code === "session_busy";
}
