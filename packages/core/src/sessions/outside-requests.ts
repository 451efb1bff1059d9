// What somebody outside asks of a session whose run waits for them: which calls wait, answers to them, the end of the run
// (keeps I4).
import type { AcceptedInput, PendingToolCall, SessionState, ToolAnswer, Watcher } from "../facts/index.ts";
import { answerFacts, nestedCalls, pendingCalls } from "../facts/index.ts";
import type { AgentRun } from "./agent-run.ts";
import { abortRun } from "./kill-session.ts";
import type { SessionActor } from "./session-actor.ts";
import { noPendingToolCalls, sessionBusy } from "./session-errors.ts";
import type { SessionScope } from "./session-scope.ts";
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
import type { Turn } from "./turn.ts";

/** The calls that wait for somebody outside. */
export async function pending(actor: SessionActor): Promise<readonly PendingToolCall[]> {
	await endNoted(actor);
	actor.ensureUsable();
	return actor.turn === undefined ? pendingCalls(await actor.lease.read()) : [];
}

/** The run that waits continues with these answers. */
export async function answer(
	actor: SessionActor,
	answers: readonly ToolAnswer[],
	watcher: Watcher | undefined,
): Promise<AgentRun> {
	await endNoted(actor);
	const { journal, agent } = actor.scope;
	const now = (): number => agent.engine.ports.clock.now();
	try {
		const own = await routed(actor, answers, now);
		const settling = own === answers || own.length > 0 ? answered(own, now, watcher) : continued(watcher);
		return await settle(actor, settling);
	} catch (error) {
		if (isNotWaiting(error)) await checkExpired(journal, actor.storeKey, answers);
		throw error;
	}
}

/** Hands the answers to calls of sub-agents over to them. The others. */
async function routed(
	actor: SessionActor,
	answers: readonly ToolAnswer[],
	now: () => number,
): Promise<readonly ToolAnswer[]> {
	const { children } = actor.scope.agent;
	if (children === undefined || actor.turn !== undefined) return answers;
	const state = await actor.lease.read();
	const { run } = state;
	const theirs = new Set(nestedCalls(run?.children).map(({ call }) => call.id));
	for (const { call } of run?.calls ?? []) theirs.delete(call.toolCallId);
	const nested = answers.filter(({ toolCallId }) => theirs.has(toolCallId));
	if (run?.status !== "waiting" || nested.length === 0) return answers;
	const own = answers.filter((each) => !nested.includes(each));
	await children.answer(state, nested, () => {
		if (own.length > 0) answerFacts(state, own, now());
	});
	return own;
}

/** With what a run that waits continues by itself: what is due, or has happened to its sub-agents. Undefined: it waits on. */
export async function continuation({ lease, scope }: SessionActor): Promise<Settlement | undefined> {
	const { clock } = scope.agent.engine.ports;
	const { state } = lease;
	const settlement = timedOut(() => clock.now())(state);
	if (settlement.facts.length > 0) return settlement;
	return (await hasNews(scope, state)) ? settlement : undefined;
}

async function hasNews({ agent }: SessionScope, state: SessionState): Promise<boolean> {
	const { children = [] } = state.run ?? {};
	// Where the agent has no sub-agents any more, the call has its result without them.
	return children.length > 0 && ((await agent.children?.hasNews(state)) ?? true);
}

/**
 * Ends the active run, or one that waits, is parked, or that another worker is busy with; resolves when its end is on
 * record. False if absent.
 */
export async function stop(actor: SessionActor): Promise<boolean> {
	await endNoted(actor);
	if (actor.turn === undefined) {
		await endChildren(actor);
		try {
			const ended = await settle(actor, stopped, "waiting-or-parked");
			await ended.result();
			return true;
		} catch (error) {
			if (isNotWaiting(error)) return false;
			if ((error as { code?: unknown }).code !== "session_busy") throw error;
		}
	}
	const { turn, lease, scope, storeKey } = actor;
	if (turn === undefined) {
		const { ports } = scope.agent.engine;
		return abortRun(scope.journal, storeKey, ports, async () => lease.cutOff(await lease.read()));
	}
	turn.handle.interrupt();
	await turn.over;
	return true;
}

/** Ends what a run waits for, first: a crash between the two leaves no work behind whose run is over. */
async function endChildren({ scope, lease }: SessionActor): Promise<void> {
	if (scope.agent.children === undefined) return;
	const state = await lease.read();
	if (state.run?.status === "waiting") await scope.agent.children.end(state);
}

/**
 * Ends the active run, or one that waits. Nothing happens when the session is idle, or another worker is busy with it. A wait
 * whose end cannot be recorded continues: `stop` rejects there.
 */
export function interrupt(actor: SessionActor, runId?: string): void {
	const { turn } = actor;
	if (turn !== undefined && isWaitingTurn(turn)) turn.over?.then(() => interrupt(actor, turn.run.runId));
	else if (turn === undefined) endWait(actor, runId).catch(() => {});
	else if (runId === undefined || turn.run.runId === runId) turn.handle.interrupt();
}

async function endWait(actor: SessionActor, runId: string | undefined): Promise<void> {
	const open = (await actor.scope.journal.head(actor.storeKey))?.openRunId;
	if (open === undefined || (runId !== undefined && open !== runId)) return;
	if (actor.turn === undefined) await endChildren(actor);
	try {
		const isSame: Settle = (state) => {
			if (state.run?.runId !== open) throw noPendingToolCalls(actor.sessionKey);
			return stopped(state);
		};
		(await settle(actor, isSame)).detach();
	} catch (error) {
		const isBusy = (error as { code?: unknown }).code === "session_busy";
		if (!isBusy && !isNotWaiting(error)) throw error;
		// It continued meanwhile.
		if (actor.turn?.run.runId === open) actor.turn.handle.interrupt();
	}
}

/** The run continues with this input, where its strategy waits for one; else null. */
export async function take(
	actor: SessionActor,
	input: AcceptedInput,
	stage: "new" | "stored" = "new",
	watcher?: Watcher,
): Promise<AgentRun | null> {
	const { scope, storeKey, sessionKey } = actor;
	if ((await scope.journal.head(storeKey))?.openRunId === undefined) return null;
	try {
		return await settle(
			actor,
			taken(input, { stage, watcher }, () => noPendingToolCalls(sessionKey)),
		);
	} catch (error) {
		if (isNotWaiting(error) || (error as { code?: unknown }).code === "session_busy") return null;
		throw error;
	}
}

/** The calls whose time is over have failed; nothing happens when none waits any more. */
export async function expire(actor: SessionActor): Promise<void> {
	const { clock } = actor.scope.agent.engine.ports;
	try {
		const run = await settle(
			actor,
			timedOut(() => clock.now()),
		);
		// Nobody asked for it: who works in the background learns that it continues.
		run.detach();
		actor.scope.resumed(run);
	} catch (error) {
		if (!isNotWaiting(error)) throw error;
	}
}

/**
 * Resumes the run that waits with what came for it from outside. Rejects with what `settling` throws,
 * `no_pending_tool_calls` when no run waits, `session_busy` while one is under way.
 */
async function settle(
	actor: SessionActor,
	settling: Settle,
	of: "waiting" | "waiting-or-parked" = "waiting",
): Promise<AgentRun> {
	actor.ensureUsable();
	while (actor.isOpening) await actor.passed();
	const { lease, exclusive, scope, sessionKey } = actor;
	if (actor.turn !== undefined || exclusive.isBusy) throw sessionBusy(sessionKey);
	lease.drop();
	return exclusive.run(async () => {
		for (;;) {
			await scope.agent.setup?.over();
			if ((await actor.open()) === "held") throw sessionBusy(sessionKey);
			const { isWaiting, state } = lease;
			const isSettled = isWaiting || (of !== "waiting" && state.run?.parked !== undefined);
			if (!isSettled) throw noPendingToolCalls(sessionKey);
			const runId = state.run?.runId ?? "";
			if (isWaiting && (await scope.records?.take(runId)) === false) {
				lease.drop();
				throw sessionBusy(sessionKey);
			}
			const resumed = await actor.resumeOpen("released", settling(state));
			if (resumed !== undefined) return resumed;
		}
	});
}

/** Who is notified that a run waits may say something of it before its drive is over. */
export async function endNoted({ turn }: SessionActor): Promise<void> {
	if (turn !== undefined && isWaitingTurn(turn)) await turn.over;
}

function isWaitingTurn({ run }: Turn): boolean {
	return run.state.run?.status === "waiting";
}
