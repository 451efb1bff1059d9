// Answers to calls of a running run while other calls of the same round still run. The process that drives the run passes
// them to the round at once. Any other process puts them into the inbox. The run reads the inbox when its round ends, or
// the process that resumes the run after a crash does (keeps I3, I4).
import { HoldfastError, isHoldfastError } from "@holdfast/upp";
import { CommitFailed, commit, type OutsideAnswers, type Run, withinCall } from "../engine/index.ts";
import {
	answerFacts,
	earliestDue,
	type Fact,
	nestedCalls,
	type RunState,
	type SessionState,
	type ToolAnswer,
	type ToolsPending,
} from "../facts/index.ts";
import type { StoredInput } from "../host/index.ts";
import type { AgentRun } from "./agent-run.ts";
import { replacedResults } from "./replaced-results.ts";
import type { SessionActor } from "./session-actor.ts";
import { continuesElsewhere } from "./session-errors.ts";
import { isRunning, type Turn } from "./turn.ts";
import type { SessionAgent } from "./turn-agent.ts";
import { readAnswers } from "./waiting-answers.ts";

/** Answers that arrive for the runs of one session. */
export class EarlyAnswers implements OutsideAnswers {
	readonly #agent: SessionAgent;
	readonly #storeKey: string;
	readonly #watchDue: (due: number | undefined) => void;
	/** Settles when nothing more is taken or given. */
	#last: Promise<unknown> = Promise.resolve();

	constructor(agent: SessionAgent, storeKey: string, watchDue: (due: number | undefined) => void) {
		this.#agent = agent;
		this.#storeKey = storeKey;
		this.#watchDue = watchDue;
	}

	shown(fact: ToolsPending): void {
		this.#watchDue(earliestDue(fact));
	}

	take(run: Run, shown: ToolsPending | undefined): Promise<boolean> {
		return this.#alone(() => this.#take(run, shown));
	}

	/**
	 * Commits answers to waiting calls if the open round accepts them. Returns false if it has ended and accepted none.
	 * Rejects with the errors of `answerFacts` and the refusals of policy.
	 */
	give(run: Run, answers: readonly ToolAnswer[], now: () => number): Promise<boolean> {
		return this.#alone(() => this.#give(run, answers, now));
	}

	/** The run and requests to it both take answers. If they did so at once, they would commit the same one twice. */
	#alone<Value>(work: () => Promise<Value>): Promise<Value> {
		const done = this.#last.then(work);
		this.#last = done.catch(() => {});
		return done;
	}

	async #take(run: Run, shown: ToolsPending | undefined): Promise<boolean> {
		const stored = await run.inputs.answers();
		if (stored.length === 0) return false;
		if (shown !== undefined) await commit(run, [shown]);
		for (const input of stored) await this.#takeStored(run, input);
		return true;
	}

	/** Applies an accepted answer, unless another answer to the same call came first. */
	async #takeStored(run: Run, input: StoredInput): Promise<void> {
		const drain = [input.id];
		try {
			await this.#give(run, readAnswers(input), () => input.at, drain);
		} catch (error) {
			// A sub-agent that has just continued does not show its calls yet. The answer stays in the inbox until this round
			// ends: by then, the sub-agent waits again, or has ended.
			if (isHoldfastError(error) && error.code === "session_busy") return;
			if (error instanceof CommitFailed || !(error instanceof HoldfastError) || error.retryable) throw error;
			await run.commitAsIs([], { drain });
		}
	}

	async #give(
		run: Run,
		answers: readonly ToolAnswer[],
		now: () => number,
		drain: readonly string[] = [],
	): Promise<boolean> {
		const { children } = this.#agent;
		const { state } = run;
		const { own, nested, moved } = splitAnswers(state.run, answers);
		const check = (): readonly Fact[] => (own.length === 0 ? [] : answerFacts(run.state, own, now()));
		if (nested.length > 0)
			await children?.answer({ storeKey: this.#storeKey, run: state.run }, nested, check);
		const replaced = (): Promise<readonly Fact[]> =>
			replacedResults(run, check(), (hooks) => withinCall(run.processKey, hooks));
		const facts = await replaced();
		const { round } = run;
		const isOpen = round !== undefined && (await round.childrenMoved(moved));
		// Without facts, the run has taken these answers before.
		if (facts.length + drain.length === 0) return isOpen || own.length > 0;
		if (isOpen)
			return drain.length > 0
				? (await round.answered(facts, { drain })) === "taken"
				: this.#giveAfterStored(run, facts, replaced);
		// Between two rounds, the next one begins with them.
		if (drain.length > 0) await run.commit(facts, { drain });
		return false;
	}

	/**
	 * Commits facts once the inbox contains no answer: answers accepted elsewhere come first, and were not refused there.
	 */
	async #giveAfterStored(
		run: Run,
		given: readonly Fact[],
		again: () => Promise<readonly Fact[]>,
	): Promise<boolean> {
		let facts = given;
		for (;;) {
			await this.#agent.engine.fairness.pause();
			const outcome = await run.round?.answered(facts, { onlyIfNothingWaits: true });
			if (outcome !== "inputs-wait" && outcome !== "late") return outcome === "taken";
			// Other inputs in the inbox wait for the end of the step.
			if (outcome === "inputs-wait" && !(await this.#take(run, undefined)))
				return (await run.round?.answered(facts)) === "taken";
			// The commit of another outcome may still be in flight.
			if (outcome === "late") await this.#agent.engine.fairness.turn();
			facts = await again();
			if (facts.length === 0) return true;
		}
	}
}

/**
 * Separates the answers for the run itself from those for its sub-agents, and returns the run's calls that those
 * sub-agents belong to.
 */
export function splitAnswers(
	run: RunState | undefined,
	answers: readonly ToolAnswer[],
): {
	readonly own: readonly ToolAnswer[];
	readonly nested: readonly ToolAnswer[];
	readonly moved: ReadonlySet<string>;
} {
	const moved = new Set<string>();
	const theirs = new Map(nestedCalls(run?.children).map(({ call, child }) => [call.id, child.callId]));
	for (const { call } of run?.calls ?? []) theirs.delete(call.toolCallId);
	const nested = answers.filter(({ toolCallId }) => theirs.has(toolCallId));
	for (const { toolCallId } of nested) moved.add(theirs.get(toolCallId) ?? "");
	return { own: answers.filter(({ toolCallId }) => !theirs.has(toolCallId)), nested, moved };
}

/** Returns the state as if the calls of sub-agents were the run's own, so that answers to both are checked together. */
export function withNestedCalls(state: SessionState): SessionState {
	const { run } = state;
	if (run === undefined) return state;
	const nested = nestedCalls(run.children).map(({ call }) => call);
	const calls = nested.map(({ id: toolCallId, toolName, arguments: given }) => ({
		call: { toolCallId, toolName, arguments: given },
	}));
	const pending = nested.map((call) => ({ ...call, callId: call.id }));
	return {
		...state,
		run: { ...run, calls: run.calls.append(calls), pending: [...(run.pending ?? []), ...pending] },
	};
}

/**
 * Gives something to the open round of a run. While it is undecided whether the calls of the round stay open, waits for
 * that: the request must not occupy the session's queue for as long as the run continues. Resolves with false if the run
 * has ended or waits, and rejects with the errors of `give` and of the store.
 */
export async function takenUnderWay(
	actor: SessionActor,
	turn: Turn,
	give: () => Promise<boolean>,
): Promise<boolean> {
	const { queue, processKey, table } = actor;
	const { fairness } = table.agent.engine;
	let triedAgain = false;
	while (!(await taking(give))) {
		const { round } = turn.run;
		const mayTake = round !== undefined && (round.undecided !== undefined || !round.isOver);
		if (!isRunning(turn) || (!mayTake && triedAgain)) {
			await actor.ended(turn);
			return false;
		}
		triedAgain = !mayTake;
		await queue.waitsFor(processKey, () => Promise.race([round?.undecided ?? fairness.turn(), turn.over]));
	}
	return true;
}

/** Returns false if another worker has taken over the run. */
async function taking(take: () => Promise<boolean>): Promise<boolean> {
	try {
		return await take();
	} catch (error) {
		if (!(error instanceof CommitFailed)) throw error;
		if (isLost(error.cause)) return false;
		throw error.cause;
	}
}

/** Whether the error means that another process has the session now, or that the run has ended. */
export function isLost(error: unknown): boolean {
	return (error as { code?: unknown } | undefined)?.code === "lease_lost";
}

/** Returns the handle of a run that has its answers and is driven by another process. */
export function answeredElsewhere(actor: SessionActor, runId: string): AgentRun {
	const run = actor.handle(runId);
	run.abandon("lease_lost", continuesElsewhere(actor.sessionKey), actor.lease.state.agent);
	return run;
}
