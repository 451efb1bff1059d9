// What somebody outside asks of a session whose run waits for them: which calls wait, answers to them, the end of the run
// (keeps I4).
import type { AcceptedInput, PendingToolCall, ToolAnswer, Watcher } from "../facts/index.ts";
import { pendingCalls } from "../facts/index.ts";
import type { AgentRun } from "./agent-run.ts";
import { abortRun } from "./kill-session.ts";
import type { SessionActor } from "./session-actor.ts";
import { noPendingToolCalls, sessionBusy } from "./session-errors.ts";
import { answered, checkExpired, isNotWaiting, type Settle, stopped, taken, timedOut } from "./settlement.ts";

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
		return await settle(actor, answered(answers, now, watcher));
	} catch (error) {
		if (isNotWaiting(error)) await checkExpired(journal, actor.storeKey, answers);
		throw error;
	}
}

/**
 * Ends the active run, or one that waits, is parked, or that another worker is busy with; resolves when its end is on
 * record. False if absent.
 */
export async function stop(actor: SessionActor): Promise<boolean> {
	await endNoted(actor);
	if (actor.turn === undefined) {
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

/** The run continues with this input, where its strategy waits for one; else null. */
export async function take(
	actor: SessionActor,
	input: AcceptedInput,
	stage: "new" | "stored" = "new",
): Promise<AgentRun | null> {
	const { scope, storeKey, sessionKey } = actor;
	if ((await scope.journal.head(storeKey))?.openRunId === undefined) return null;
	try {
		return await settle(
			actor,
			taken(input, stage, () => noPendingToolCalls(sessionKey)),
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
	if (turn?.run.state.run?.status === "waiting") await turn.over;
}
