/**
 * Reads the events of one session for the user who has it open, and drives its runs. Runs of this process arrive as they
 * happen, deltas included; runs that continue by themselves or in another process arrive from the journal. Each event is
 * shown once. A run whose process dies is continued here.
 *
 * idle ── follow, continueOpen, settle ──▶ reading ── calls wait ──▶ asking ── answered, here or elsewhere ──▶ reading
 *   ▲                                        │ the run ended                     │ no answer
 *   └────────────────────────────────────────┴───────────────────────────────────┘
 * Any of them ── leave ──▶ left: runs in flight are suspended, waiting calls keep waiting.
 */
import type { AgentRun, Host, PendingToolCall, RunEvent, RunResult, Session, ToolAnswer } from "holdfast";
import { isHoldfastError } from "holdfast";
import { afterEntry } from "holdfast/execute";

/** How a run left the process that works on it. Of a run elsewhere, only what its last event contains. */
export type RunEnd = Pick<RunResult, "runId" | "outcome"> & Partial<RunResult>;

/** `elsewhere`: the run continues by itself or in another process. */
export type Place = "here" | "elsewhere";

/** The user's side of a session. */
export interface ReaderParts {
	readonly session: Session;
	readonly host: Host;
	/** The key of the session in the journal. */
	readonly key: string;
	/**
	 * How long to stay with a run: until the user leaves, or also no longer than until it waits for a time or for its
	 * provider. Default `left`.
	 */
	readonly until?: "left" | "waits";
	/** A run is shown from here on. */
	began?(place: Place): void;
	/** Shows an event. The reader waits for it. */
	event(event: RunEvent, place: Place): void | Promise<void>;
	/** The run that was shown has ended, or waits. */
	ended?(end: RunEnd, place: Place): void | Promise<void>;
	/**
	 * Returns the answer to one of the calls; undefined if they keep waiting. `signal` fires if the session continues
	 * without this answer.
	 */
	answer(calls: readonly PendingToolCall[], signal: AbortSignal): Promise<ToolAnswer | undefined>;
	/** The answer was accepted, and its run is shown next. */
	answered?(call: PendingToolCall | undefined, answer: ToolAnswer): void | Promise<void>;
	/** Calls of a run that was not started here wait. `settle` asks about them. */
	waits?(): void;
	/** Reading the journal failed. */
	failed(error: unknown): void;
}

/** Milliseconds between two checks of the process that works on a run. */
const checkEveryMs = 3_000;

/** What a session contains when it is opened. */
export interface Opened {
	/** `queued`: accepted turns have not begun. `parked`: the open run needs a release. */
	readonly state: "nothing" | "history" | "queued" | "open run" | "parked";
	/** Id of the open run. */
	readonly runId?: string;
}

/** A run that this process has requested. */
interface OwnRun {
	readonly events: AsyncIterator<RunEvent>;
	/** The first event of the run. Another process works on the run if there is none. */
	readonly first: Promise<IteratorResult<RunEvent>>;
}

export class SessionReader {
	readonly #parts: ReaderParts;
	readonly #leaving = new AbortController();
	/** Runs that this process has requested and not shown to their end, by id. */
	readonly #own = new Map<string, OwnRun>();
	/** Settles when the requests made so far have their runs. */
	#entering: Promise<unknown> = Promise.resolve();
	/** The run in flight here. */
	#here: AgentRun | undefined;
	/** Id of the run that is shown from the journal. */
	#elsewhere: string | undefined;
	/** Runs that continue elsewhere, and whose end is awaited. */
	readonly #awaited = new Map<string, PromiseWithResolvers<RunEnd>>();
	/** The last end of a run elsewhere. */
	#lastEnd: RunEnd | undefined;
	/** Seq of the last event that was shown. */
	#shown = 0;
	/** Fires when the session continues without the pending answer. */
	#asking: AbortController | undefined;
	#journal: Promise<void> = Promise.resolve();
	/** Checks whether the process of the run elsewhere is alive. */
	#checking: ReturnType<typeof setInterval> | undefined;
	#isTakingOver = false;
	/** Whether the run that is shown waits for something that comes by itself. */
	#isAsleep = false;
	readonly #left = Promise.withResolvers<IteratorReturnResult<undefined>>();

	constructor(parts: ReaderParts) {
		this.#parts = parts;
	}

	/** Where the run is that is shown; undefined if there is none. */
	get place(): Place | undefined {
		if (this.#here !== undefined) return "here";
		return this.#elsewhere === undefined ? undefined : "elsewhere";
	}

	/** Id of the run that is shown. */
	get runId(): string | undefined {
		return this.#here?.runId ?? this.#elsewhere;
	}

	/** Starts to read. Call this before anything else. */
	async start(): Promise<Opened> {
		const { host, key } = this.#parts;
		const head = await host.journal.head(key);
		const { seq = 0, waiting = 0, openRunId, parked } = head ?? {};
		this.#shown = seq;
		this.#journal = this.#readJournal(seq, openRunId).catch((error: unknown) => {
			if (!this.#leaving.signal.aborted) this.#parts.failed(error);
		});
		const has = waiting > 0 ? "queued" : seq === 0 ? "nothing" : "history";
		const state = parked === true ? "parked" : openRunId === undefined ? has : "open run";
		return openRunId === undefined ? { state } : { state, runId: openRunId };
	}

	/**
	 * Continues what is open until its turn ends; `release` also continues a parked run. Returns how it ended; undefined
	 * if nothing was open.
	 */
	async continueOpen(
		{ state, runId }: Opened,
		how: "resume" | "release" = "resume",
	): Promise<RunEnd | undefined> {
		if (state === "nothing" || (state === "parked" && how === "resume")) return undefined;
		const { session, until } = this.#parts;
		const [call] = await session.pending();
		if (call !== undefined) return this.settle({ runId: runId ?? call.runId, outcome: "waiting" });
		if (state === "history") return undefined;
		const run = await this.#resume(how);
		if (typeof run === "object") return this.follow(run);
		if (runId === undefined || (run === "waits" && until === "waits")) return undefined;
		this.#isAsleep = run === "waits";
		return this.settle(await this.#endElsewhere(runId));
	}

	/** Makes a request that starts, or joins, a run. */
	enter(request: () => Promise<AgentRun>): Promise<AgentRun> {
		const entered = request().then((run) => {
			if (run.runId !== this.runId) this.#register(run);
			return run;
		});
		this.#entering = Promise.allSettled([this.#entering, entered]);
		return entered;
	}

	/** Shows a run, and those that continue it, until its turn ends. */
	async follow(run: AgentRun): Promise<RunEnd> {
		const end = await this.#show(run);
		return (await this.settle(end)) ?? end;
	}

	/** Asks about the calls that wait, and shows the run as it continues. Returns how it ended. */
	async settle(last?: RunEnd): Promise<RunEnd | undefined> {
		let end = last;
		while (!this.#leaving.signal.aborted) {
			const { session } = this.#parts;
			const calls = await session.pending();
			if (calls.length === 0) {
				if (end?.outcome !== "waiting" || end.wait?.until === undefined) break;
				if (this.#parts.until === "waits") break;
				end = await this.#endElsewhere(end.runId);
				continue;
			}
			const asking = new AbortController();
			this.#asking = asking;
			this.#lastEnd = undefined;
			const answer = await this.#parts.answer(calls, asking.signal);
			this.#asking = undefined;
			if (answer === undefined && (!asking.signal.aborted || this.#leaving.signal.aborted)) break;
			const call = calls.find(({ toolCallId }) => toolCallId === answer?.toolCallId);
			const next = answer === undefined ? "elsewhere" : await this.#answer(call, answer);
			if (next === "elsewhere") end = await this.#endElsewhere(end?.runId ?? calls[0]?.runId ?? "");
			else if (call?.taskId === undefined || this.#parts.until === "waits") end = await this.#show(next);
			else void next.result(); // The task continues by itself.
		}
		if (end !== undefined) this.#awaited.delete(end.runId);
		return end;
	}

	/** Ends the run that is shown, here or elsewhere. */
	async interrupt(): Promise<boolean> {
		if (this.#here === undefined) return this.#parts.session.stop();
		this.#here.interrupt();
		return true;
	}

	/** Suspends the run in flight, and stops reading. */
	async leave(): Promise<void> {
		this.#leaving.abort();
		this.#left.resolve({ done: true, value: undefined });
		clearInterval(this.#checking);
		this.#asking?.abort();
		this.#here?.suspend();
		for (const [runId, { resolve }] of this.#awaited) resolve({ runId, outcome: "suspended" });
		this.#awaited.clear();
		await this.#journal;
	}

	#register(run: AgentRun): void {
		if (this.#own.has(run.runId)) return;
		const events = run.watch();
		this.#own.set(run.runId, { events, first: Promise.race([events.next(), this.#left.promise]) });
	}

	/** Continues the open run; `held` if another process works on it, `waits` if it continues by itself. */
	async #resume(how: "resume" | "release" = "resume"): Promise<AgentRun | "held" | "waits"> {
		const resumed = (async (): Promise<AgentRun | "held" | "waits"> => {
			try {
				const run = await this.#parts.session[how]();
				if (run === null) return "waits";
				// It is shown here from now on, even if it was shown from the journal.
				this.#notElsewhere();
				this.#register(run);
				return run;
			} catch (error) {
				if (codeOf(error) === "session_held") return "held";
				throw error;
			}
		})();
		this.#entering = Promise.allSettled([this.#entering, resumed]);
		return resumed;
	}

	/** Continues the run with an answer, unless another process was faster. */
	async #answer(call: PendingToolCall | undefined, answer: ToolAnswer): Promise<AgentRun | "elsewhere"> {
		try {
			const run = await this.enter(() => this.#parts.session.answer([answer]));
			await this.#parts.answered?.(call, answer);
			return run;
		} catch (error) {
			if (takenElsewhere.has(codeOf(error))) return "elsewhere";
			throw error;
		}
	}

	async #show(run: AgentRun): Promise<RunEnd> {
		const own = this.#own.get(run.runId);
		if (own === undefined) return run.result();
		let next = await own.first;
		if (this.#leaving.signal.aborted) {
			run.suspend();
			return { runId: run.runId, outcome: "suspended" };
		}
		if (isElsewhere(next)) {
			this.#own.delete(run.runId);
			return this.#endElsewhere(run.runId);
		}
		this.#here = run;
		this.#awaited.delete(run.runId);
		this.#parts.began?.("here");
		for (; next.done !== true; next = await own.events.next()) {
			this.#shown = Math.max(this.#shown, next.value.seq);
			this.#sleepOrWake(next.value);
			await this.#parts.event(next.value, "here");
		}
		const end = await run.result();
		this.#here = undefined;
		this.#own.delete(run.runId);
		// It may continue before the next line.
		if (end.outcome === "waiting") this.#await(run.runId);
		await this.#parts.ended?.(end, "here");
		return end;
	}

	#await(runId: string): PromiseWithResolvers<RunEnd> {
		const awaited = this.#awaited.get(runId) ?? Promise.withResolvers<RunEnd>();
		this.#awaited.set(runId, awaited);
		return awaited;
	}

	/** Waits until a run that continues elsewhere has ended, or waits for an answer. */
	async #endElsewhere(runId: string): Promise<RunEnd> {
		if (this.#leaving.signal.aborted) return { runId, outcome: "suspended" };
		if (this.#lastEnd?.runId === runId && this.#elsewhere !== runId) return this.#lastEnd;
		if (this.#elsewhere !== runId) this.#beginElsewhere(runId);
		return this.#await(runId).promise;
	}

	#beginElsewhere(runId: string): void {
		this.#elsewhere = runId;
		clearInterval(this.#checking);
		this.#checking = setInterval(() => void this.#takeOver(runId), checkEveryMs);
		this.#checking.unref();
		this.#lastEnd = undefined;
		this.#parts.began?.("elsewhere");
		this.#asking?.abort();
	}

	/** Continues a run here whose process has died. */
	async #takeOver(runId: string): Promise<void> {
		if (this.#isTakingOver || this.#isAsleep || this.#elsewhere !== runId) return;
		this.#isTakingOver = true;
		try {
			const { host, key } = this.#parts;
			const { openRunId, holder, parked } = (await host.journal.head(key)) ?? {};
			if (openRunId !== runId || parked === true || holder?.alive === true) return;
			const awaited = this.#awaited.get(runId);
			const run = await this.#resume();
			if (typeof run !== "object") return;
			const end = await this.#show(run);
			if (awaited !== undefined) awaited.resolve(end);
			else if (end.outcome === "waiting") this.#parts.waits?.();
		} catch (error) {
			if (!this.#leaving.signal.aborted) this.#parts.failed(error);
		} finally {
			this.#isTakingOver = false;
		}
	}

	#sleepOrWake({ type }: RunEvent): void {
		if (type === "waiting") this.#isAsleep = true;
		if (type === "run_start") this.#isAsleep = false;
	}

	#notElsewhere(): void {
		clearInterval(this.#checking);
		this.#elsewhere = undefined;
	}

	/** Shows what runs do that are not shown as they happen. */
	async #readJournal(seq: number, openRunId: string | undefined): Promise<void> {
		const { session } = this.#parts;
		const { signal } = this.#leaving;
		let runId = openRunId;
		for await (const { event } of session.follow({ after: afterEntry(seq), until: "never", signal })) {
			if ("runId" in event) runId = event.runId;
			await this.#entering;
			if (runId === undefined || event.seq <= this.#shown) continue;
			const own = this.#own.get(runId);
			if (own !== undefined && !isElsewhere(await own.first)) continue;
			if (event.seq <= this.#shown) continue;
			if (this.#elsewhere !== runId) this.#beginElsewhere(runId);
			this.#sleepOrWake(event);
			await this.#parts.event(event, "elsewhere");
			const end = endOf(event);
			if (end !== undefined) await this.#endedElsewhere(end);
			if (signal.aborted) return;
		}
	}

	async #endedElsewhere(end: RunEnd): Promise<void> {
		const { runId } = end;
		this.#notElsewhere();
		this.#lastEnd = end;
		await this.#parts.ended?.(end, "elsewhere");
		const awaited = this.#awaited.get(runId);
		this.#awaited.delete(runId);
		if (awaited !== undefined) awaited.resolve(end);
		else if (end.outcome === "waiting" && !this.#own.has(runId)) this.#parts.waits?.();
	}
}

/** Errors of an answer that another process gave first. */
const takenElsewhere: ReadonlySet<string> = new Set(["no_pending_tool_calls", "session_busy", "lease_lost"]);

function codeOf(error: unknown): string {
	return isHoldfastError(error) ? error.code : "";
}

/** Whether another process has started a run of this one. */
function isElsewhere({ done, value }: IteratorResult<RunEvent>): boolean {
	return (
		done === true || (value.type === "run_suspended" && value.seq === 0 && value.reason === "lease_lost")
	);
}

/** Returns how a run ended; undefined while it works, also if it waits for something that comes by itself. */
function endOf(event: RunEvent): RunEnd | undefined {
	if (event.type === "run_end") return event;
	if (event.type !== "waiting") return undefined;
	const { runId, calls, wait } = event;
	if (calls.length === 0 && (wait === undefined || wait.until !== undefined)) return undefined;
	return { runId, outcome: "waiting", ...(wait === undefined ? {} : { wait }) };
}
