// A session whose run waits for somebody outside: what is said of its calls, and their deadlines (keeps I4).
import {
	type AcceptedInput,
	answerFacts,
	dueFacts,
	entriesBack,
	expired,
	inputFact,
	nextDeadline,
	type PendingToolCall,
	pendingCalls,
	type SessionState,
	stoppedFacts,
	type ToolAnswer,
	type Watcher,
} from "../facts/index.ts";
import type { AgentRun } from "./agent-run.ts";
import { abortRun } from "./kill-session.ts";
import { noPendingToolCalls, sessionBusy } from "./session-errors.ts";
import type { Settlement } from "./session-runner.ts";
import type { SessionWorker } from "./session-worker.ts";

/** Milliseconds a timer can wait at most. */
const longestTimer = 2 ** 31 - 1;
/** How far back a late answer is looked for. */
const recentEntries = 1_000;

export class SessionWaiting {
	readonly #worker: SessionWorker;
	/** Names the end of a call's time among what is done later. */
	readonly #deadline: string;

	constructor(worker: SessionWorker) {
		this.#worker = worker;
		this.#deadline = `deadline ${worker.place}`;
	}

	get #now(): number {
		return this.#worker.agent.ports.clock.now();
	}

	/** The calls that wait. */
	async pending(): Promise<readonly PendingToolCall[]> {
		const { active, hold } = this.#worker;
		this.#worker.ensureUsable();
		return active === undefined ? pendingCalls(await hold.readState()) : [];
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

	/** The run continues with this input, where its strategy waits for one; else null. */
	async take(input: AcceptedInput, place: "new" | "stored" = "new"): Promise<AgentRun | null> {
		const worker = this.#worker;
		if ((await worker.journal.head(worker.place))?.openRunId === undefined) return null;
		const { id } = input.message;
		try {
			return await this.#settle(({ run }) => {
				if (run?.wait === undefined) throw noPendingToolCalls(worker.key);
				const facts = [inputFact(id, input, "step-end")];
				return { facts, afterwards: "goes-on", ...(place === "stored" ? { drain: [id] } : {}) };
			});
		} catch (error) {
			if (isNotWaiting(error) || (error as { code?: unknown }).code === "session_busy") return null;
			throw error;
		}
	}

	/** What is due is on record: calls whose time is over have failed. Null when nothing waits any more. */
	async expire(): Promise<AgentRun | null> {
		try {
			return await this.#settle(({ run }) => ({
				facts: run === undefined ? [] : dueFacts(run, this.#now),
				afterwards: "goes-on",
			}));
		} catch (error) {
			if (isNotWaiting(error)) return null;
			throw error;
		}
	}

	/** Sees to it that the calls of a run that waits fail in time. */
	watchDeadlines({ run }: SessionState): void {
		const { later } = this.#worker.table;
		later.callOff(this.#deadline);
		const deadline = run?.status === "waiting" ? nextDeadline(run) : undefined;
		if (deadline === undefined) return;
		// Again where it cannot be recorded then: the store fails, or another worker has the session and may die.
		const expire = async (): Promise<void> => void (await this.expire())?.result();
		// Timers do not reach further; what is left is waited for again.
		const after = Math.min(Math.max(0, deadline - this.#now), longestTimer);
		later.set(this.#deadline, expire, () => this.#worker.isUsable, after);
	}

	get watchesDeadline(): boolean {
		return this.#worker.table.later.has(this.#deadline);
	}

	/** Watches no deadlines any more. */
	close(): void {
		this.#worker.table.later.callOff(this.#deadline);
	}

	/**
	 * Ends the active run, or one that waits, is parked, or that another worker is busy with; resolves when its end is on
	 * record. False when there is none.
	 */
	async stop(): Promise<boolean> {
		const worker = this.#worker;
		if (worker.active === undefined) {
			try {
				return await this.#stopHere();
			} catch (error) {
				if ((error as { code?: unknown }).code !== "session_busy") throw error;
			}
		}
		const { active, hold, journal, place, agent } = worker;
		if (active === undefined)
			return abortRun(journal, place, agent.ports, async () => hold.cutOff(await hold.readState()));
		active.handle.interrupt();
		await active.over;
		return true;
	}

	/** Ends a run that nobody works on, without any of its tools. */
	async #stopHere(): Promise<boolean> {
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

	/**
	 * Goes on with the run that waits, with what `settle` makes of it. Rejects with what `settle` throws,
	 * `no_pending_tool_calls` when no run waits, `session_busy` while one goes on.
	 */
	async #settle(
		settle: (state: SessionState) => Settlement,
		of: "waiting" | "waiting-or-parked" = "waiting",
	): Promise<AgentRun> {
		const worker = this.#worker;
		const { key, hold, opening, runner, turnstile } = worker;
		worker.ensureUsable();
		while (turnstile.busy && !turnstile.heldElsewhere) await worker.passed();
		if (worker.active !== undefined || turnstile.busy) throw sessionBusy(key);
		hold.drop();
		return turnstile.through(async () => {
			for (;;) {
				await worker.table.agent.setup?.over();
				if ((await opening.open()) === "held") throw sessionBusy(key);
				const isTheirs = hold.waits || (of !== "waiting" && hold.state.run?.parked !== undefined);
				if (!isTheirs) throw noPendingToolCalls(key);
				const isOurs = await runner.recover("goes-on", settle(hold.state));
				if (isOurs && worker.active !== undefined) return worker.active.handle;
			}
		});
	}

	/** Who answers a call too late is told so, also when the run has gone on. */
	async #checkExpired(answers: readonly ToolAnswer[]): Promise<void> {
		const { journal, place } = this.#worker;
		const { seq } = (await journal.head(place)) ?? { seq: 0 };
		for await (const { seq: at, fact } of entriesBack(journal, place, seq)) {
			if (at <= seq - recentEntries) return;
			if (fact.kind !== "tool.settled" || fact.outcome !== "expired") continue;
			if (answers.some(({ toolCallId }) => toolCallId === fact.callId)) throw expired(fact.callId);
		}
	}
}

function isNotWaiting(error: unknown): boolean {
	return (error as { code?: unknown } | null)?.code === "no_pending_tool_calls";
}
