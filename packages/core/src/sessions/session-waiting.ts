// A session whose run waits for somebody outside: what is said of its calls, and their deadlines (keeps I4).
import type { SessionState, Watcher } from "../engine/index.ts";
import type { Journal } from "../journal/index.ts";
import { readKept } from "../journal/read-kept.ts";
import type { AgentRun } from "./agent-run.ts";
import {
	answerFacts,
	expired,
	expiredFacts,
	nextDeadline,
	stoppedFacts,
	type ToolAnswer,
} from "./outside-answers.ts";
import type { SessionAgent } from "./session-agent.ts";
import type { Settlement } from "./session-runner.ts";

/** Milliseconds a timer can wait at most. */
const longestTimer = 2 ** 31 - 1;
/** How far back a late answer is looked for. */
const recentEntries = 1_000;

/** Goes on with the run that waits, with what is made of it; rejects with `no_pending_tool_calls` when none waits. */
export type Settle = (
	settle: (state: SessionState) => Settlement,
	of?: "waiting" | "waiting-or-parked",
) => Promise<AgentRun>;

export class SessionWaiting {
	readonly #journal: Journal;
	readonly #place: string;
	readonly #agent: SessionAgent;
	readonly #settle: Settle;
	#callOff: (() => void) | undefined;

	constructor(journal: Journal, place: string, agent: SessionAgent, settle: Settle) {
		this.#journal = journal;
		this.#place = place;
		this.#agent = agent;
		this.#settle = settle;
	}

	get #now(): number {
		return this.#agent.engine.ports.clock.now();
	}

	/** The run goes on with these answers. */
	async answer(answers: readonly ToolAnswer[], watcher?: Watcher): Promise<AgentRun> {
		try {
			return await this.#settle((state) => ({
				facts: answerFacts(state, answers, this.#now),
				afterwards: "goes-on",
				watcher,
			}));
		} catch (error) {
			if (isNotWaiting(error)) await this.#checkExpired(answers);
			throw error;
		}
	}

	/** Calls whose time is over have failed. Null when nothing waits any more. */
	async expire(): Promise<AgentRun | null> {
		try {
			return await this.#settle(({ run }) => ({
				facts: run === undefined ? [] : expiredFacts(run, this.#now),
				afterwards: "goes-on",
			}));
		} catch (error) {
			if (isNotWaiting(error)) return null;
			throw error;
		}
	}

	/** Sees to it that the calls of a run that waits fail in time. */
	watchDeadlines({ run }: SessionState): void {
		this.close();
		const deadline = run?.status === "waiting" ? nextDeadline(run) : undefined;
		if (deadline === undefined) return;
		// Timers do not reach further; what is left is waited for again.
		const milliseconds = Math.min(Math.max(0, deadline - this.#now), longestTimer);
		this.#callOff = this.#agent.engine.ports.timers.after(milliseconds, () => {
			this.#callOff = undefined;
			// Where it cannot be recorded now, whoever opens the session next sees to it.
			this.expire().then(
				(gone) => void gone?.result(),
				() => {},
			);
		});
	}

	/** Watches no deadlines any more. */
	close(): void {
		this.#callOff?.();
		this.#callOff = undefined;
	}

	/** The run ends, also a parked one, without any of its tools; false when none waits. */
	async stop(): Promise<boolean> {
		try {
			const stopped = await this.#settle(
				({ run }) => ({ facts: run === undefined ? [] : stoppedFacts(run), afterwards: "stops" }),
				"waiting-or-parked",
			);
			await stopped.result();
			return true;
		} catch (error) {
			if (isNotWaiting(error)) return false;
			throw error;
		}
	}

	/** Who answers a call too late is told so, also when the run has gone on. */
	async #checkExpired(answers: readonly ToolAnswer[]): Promise<void> {
		const { seq } = (await this.#journal.head(this.#place)) ?? { seq: 0 };
		const entries = await readKept(this.#journal, this.#place, Math.max(0, seq - recentEntries));
		for (const { fact } of entries) {
			if (fact.kind !== "tool.settled" || fact.outcome !== "expired") continue;
			if (answers.some(({ toolCallId }) => toolCallId === fact.callId)) throw expired(fact.callId);
		}
	}
}

function isNotWaiting(error: unknown): boolean {
	return (error as { code?: unknown } | null)?.code === "no_pending_tool_calls";
}
