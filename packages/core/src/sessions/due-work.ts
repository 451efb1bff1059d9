// The work loop of one worker: work starts when it is due and capacity allows, and failed work is retried at growing
// intervals (keeps I7).
import type { AgentRun, RunResult } from "./agent-run.ts";
import { orphans } from "./store-keys.ts";
import type { Supervised, WorkHooks, WorkOptions, WorkProblem } from "./supervised.ts";

/** Searches for expired calls. */
type DeadlineLook = (
	isOurs: (storeKey: string) => boolean,
	report: (problem: WorkProblem) => void,
) => Promise<void>;

/** A piece of work to take over. */
interface Piece {
	readonly storeKey: string;
	readonly name: string;
	/** Returns null if there is nothing to do now, or if another process has the work. */
	take(): Promise<AgentRun | null>;
	/** Called after an attempt. */
	over?(): Promise<void>;
}

/**
 * Milliseconds between two searches for unfinished work of dead processes, if no process died in between. A search may
 * read every background task that ever existed.
 */
const searchEvery = 60_000;
/** Milliseconds between full scans if a queue hands out work, because the queue may have lost some. */
const queuedLookEvery = 30_000;
/** The default number of a queue's sessions in progress at once. */
const takenAtOnce = 100;
/** Slow scans run so rarely that they take at most one part in this many of the time. */
const looksTakeOneIn = 10;
/** The name of the search among the pieces of work. */
const leftOver = "left over";
/** Milliseconds before failed work is retried: the first delay and the longest. */
const patience = { first: 1_000, most: 60_000 };

export class DueWork {
	readonly #supervised: Supervised;
	readonly #watchDeadlines: DeadlineLook;
	readonly #options: WorkOptions & WorkHooks;
	readonly #stops: (() => void)[];
	/** Names of the pieces in progress. */
	readonly #attempts = new Set<string>();
	/** When a piece may be retried, and its last delay. */
	readonly #later = new Map<string, { readonly at: number; readonly waited: number }>();
	readonly #running = new Set<AgentRun>();
	/** The findings of the last scan that have not started, from `#next` on. */
	#found: readonly Piece[] = [];
	#next = 0;
	#lookedAt = Number.NEGATIVE_INFINITY;
	/** Whether the last scan succeeded. */
	#hasLooked = false;
	/** Duration of the last scan in milliseconds. */
	#lookTook = 0;
	/** Whether the scheduler has notified us since the last scan. */
	#hasNews = false;
	/** Runs that were resumed but not yielded yet. */
	readonly #taken: AgentRun[] = [];
	#wake = (): void => {};
	/** Whether anything changed since work was last started. */
	#isNew = false;
	#failure: { readonly error: unknown } | undefined;
	#searchedAt = Number.NEGATIVE_INFINITY;
	/** The queue that hands out work; undefined without one, or before it has started. */
	#taking: { stop(): Promise<void> } | undefined;
	#isClosed = false;
	/** The time of the last full scan. */
	#lookedAtAll = Number.NEGATIVE_INFINITY;
	/** The processes that were dead at the last check. */
	#deaths: ReadonlySet<string> = new Set();

	constructor(supervised: Supervised, options: WorkOptions & WorkHooks, watchDeadlines: DeadlineLook) {
		this.#supervised = supervised;
		this.#watchDeadlines = watchDeadlines;
		this.#options = options;
		const { signal } = options;
		const heard = (): void => this.#happened();
		const scheduled = (): void => {
			this.#hasNews = true;
			this.#happened();
		};
		signal?.addEventListener("abort", heard);
		this.#stops = [
			() => signal?.removeEventListener("abort", heard),
			supervised.onResumed?.((run) => void this.#follow(run).catch(() => {})) ?? (() => {}),
			supervised.scheduled?.watch(scheduled) ?? (() => {}),
		];
		if (options.until !== "done") void this.#takeFromQueue();
	}

	get isStopped(): boolean {
		return this.#options.signal?.aborted === true;
	}

	/** Whether no work is left, for workers that end in that case. */
	get isDone(): boolean {
		return this.#options.until === "done" && this.#isIdle && this.#hasLooked && !this.#isNew;
	}

	next(): AgentRun | undefined {
		return this.#taken.shift();
	}

	close(): void {
		this.#isClosed = true;
		for (const stop of this.#stops) stop();
		void this.#taking?.stop().catch(() => {});
	}

	/** Starts taking work from the queue; until that succeeds, work is found by scanning. */
	async #takeFromQueue(again = patience.first): Promise<void> {
		const { queue } = this.#supervised;
		const { atOnce = takenAtOnce } = this.#options;
		try {
			const taking = await queue?.take({
				atOnce: Math.min(atOnce, takenAtOnce),
				isOurs: (storeKey) => this.#isOurs(storeKey),
				work: (storeKey) => this.#handedOut(storeKey),
			});
			if (this.#isClosed) await taking?.stop();
			else if (taking !== undefined) this.#isTaking(taking);
		} catch (error) {
			if (this.isStopped || this.#isClosed) return;
			const wait = Math.min(2 * again, patience.most);
			this.#stops.push(this.#supervised.ports.timers.after(again, () => void this.#takeFromQueue(wait)));
			this.#failed({ error });
		}
	}

	/**
	 * The last scan does not contain work that became due after it and before the queue started, so this scans everything
	 * again.
	 */
	#isTaking(taking: { stop(): Promise<void> }): void {
		this.#taking = taking;
		this.#lookedAt = Number.NEGATIVE_INFINITY;
		this.#lookedAtAll = Number.NEGATIVE_INFINITY;
		this.#happened();
	}

	/** Handles work from the queue. After a failure, the queue hands it out again. */
	async #handedOut(storeKey: string): Promise<"not-ours" | undefined> {
		const name = sessionPiece(storeKey);
		if (this.isStopped) throw new Error("nothing else is started");
		// The reason for handing it out may have come too late for the running attempt.
		if (this.#attempts.has(name)) throw new Error("it is being worked on, and more work may follow");
		const take = (): Promise<AgentRun | null> => this.#supervised.takeOver(storeKey);
		const attempted = await this.#attempt({ storeKey, name, take });
		const again = (this.#later.get(name)?.waited ?? 0) > 0;
		this.#later.delete(name);
		if (attempted === "not-ours") return attempted;
		if (again) throw new Error("it could not be done now");
	}

	/** Starts as much due work as capacity allows. */
	async begin(): Promise<void> {
		this.#isNew = false;
		try {
			if (this.#isTimeToLook) await this.#look().finally(this.#options.onLook);
			while (this.#next < this.#found.length && !this.isStopped && !this.#isFull) {
				const piece = this.#found[this.#next++] as Piece;
				const isEarly = (this.#later.get(piece.name)?.at ?? 0) > this.#now;
				if (!isEarly && !this.#attempts.has(piece.name)) void this.#attempt(piece);
			}
			this.#isNew ||= this.#hasNews && this.#next >= this.#found.length;
			if (this.#now - this.#searchedAt >= searchEvery && !this.isStopped) void this.#finishLeftOver();
		} catch (error) {
			// It is called again at its regular time, not at once.
			if (!this.isStopped) this.#report({ error });
		}
		if (this.#failure !== undefined) throw this.#failure.error;
	}

	/**
	 * A scan takes longer the more there is to do. The findings of one scan are therefore processed before the next scan,
	 * which runs at its regular time, or when there is nothing else to do.
	 */
	get #isTimeToLook(): boolean {
		const pause = Math.max(this.#lookEvery * 0.9, this.#lookTook * looksTakeOneIn);
		if (this.#now - this.#lookedAt >= pause) return true;
		if (this.#taking !== undefined) return this.#hasNews;
		return this.#next >= this.#found.length && (this.#isIdle || this.#hasNews);
	}

	async #look(): Promise<void> {
		this.#hasNews = false;
		this.#hasLooked = false;
		this.#lookedAt = this.#now;
		const isOfAll = this.#taking === undefined || this.#now - this.#lookedAtAll >= queuedLookEvery * 0.9;
		if (isOfAll) {
			this.#lookedAtAll = this.#now;
			await this.#lookForDeaths();
			await this.#watchDeadlines(
				(storeKey) => this.#isOurs(storeKey),
				(problem) => !this.isStopped && this.#report(problem),
			);
		}
		this.#found = [...(isOfAll ? await this.#orphaned() : []), ...(await this.#scheduled())];
		this.#next = 0;
		this.#lookTook = this.#now - this.#lookedAt;
		this.#hasLooked = true;
		const names = new Set(this.#found.map(({ name }) => name));
		for (const name of this.#later.keys()) if (!names.has(name)) this.#later.delete(name);
	}

	/** A dead worker may have left a reminder undelivered, or a waiting sub-agent behind. */
	async #lookForDeaths(): Promise<void> {
		const deaths = new Set(await this.#supervised.journal.deaths?.());
		for (const death of deaths) if (!this.#deaths.has(death)) this.#searchedAt = Number.NEGATIVE_INFINITY;
		this.#deaths = deaths;
	}

	/** Resolves when there may be work to start. */
	async changed(): Promise<void> {
		if (this.#isNew || this.isStopped) return;
		await new Promise<void>((resolve) => {
			const callOff = this.#supervised.ports.timers.after(this.#lookEvery, resolve);
			this.#wake = () => {
				callOff();
				resolve();
			};
		});
	}

	/** Milliseconds between scans. */
	get #lookEvery(): number {
		return this.#taking === undefined ? (this.#options.lookEveryMs ?? 500) : queuedLookEvery;
	}

	get #now(): number {
		return this.#supervised.ports.clock.monotonic();
	}

	get #isIdle(): boolean {
		return this.#attempts.size === 0 && this.#running.size === 0;
	}

	get #isFull(): boolean {
		const { atOnce = this.#supervised.queue === undefined ? Number.POSITIVE_INFINITY : takenAtOnce } =
			this.#options;
		const attempts = this.#attempts.size - (this.#attempts.has(leftOver) ? 1 : 0);
		return Math.max(this.#running.size, attempts) >= atOnce;
	}

	/** Returns work without a live owner. */
	async #orphaned(): Promise<readonly Piece[]> {
		const { takeOver } = this.#supervised;
		const pieces: Piece[] = [];
		for await (const storeKey of orphans(this.#supervised)) {
			if (!this.#isOurs(storeKey)) continue;
			pieces.push({ storeKey, name: sessionPiece(storeKey), take: () => takeOver(storeKey) });
		}
		return pieces;
	}

	/** Returns scheduled work that is due. */
	async #scheduled(): Promise<readonly Piece[]> {
		const { scheduled } = this.#supervised;
		if (scheduled === undefined) return [];
		return (await scheduled.due()).flatMap(({ runId, storeKey, collect }) => {
			if (!this.#isOurs(storeKey)) return [];
			const take = (): Promise<AgentRun | null> =>
				collect === undefined ? scheduled.resume(runId) : collect().then(() => null);
			return [{ storeKey, name: `run ${runId}`, take, over: () => scheduled.settle(runId) }];
		});
	}

	#isOurs(storeKey: string): boolean {
		const key = this.#supervised.keyOf(storeKey);
		return key !== undefined && (this.#options.sessions?.(key) ?? true);
	}

	async #attempt(piece: Piece): Promise<"not-ours" | undefined> {
		const { name, storeKey } = piece;
		this.#attempts.add(name);
		try {
			const run = await piece.take();
			const result = run === null ? undefined : await this.#follow(run);
			await piece.over?.();
			if (run === null) this.#tryLater(name, 0);
			else if (result?.outcome !== "suspended") this.#later.delete(name);
			else this.#leftOpen(name, storeKey, result);
			if (run !== null) this.#happened();
		} catch (error) {
			const { code } = error as { code?: unknown };
			// Another worker was faster and owns the run. A scheduled run may follow a parked one.
			if (code === "session_held") this.#tryLater(name, 0);
			// A session of an agent in the namespace of that name, not of a service.
			else if (code === "session_not_found") {
				this.#tryLater(name, patience.first);
				return "not-ours";
			} else if (code === "run_parked") this.#tryLater(name, patience.first);
			else if (!this.isStopped) {
				this.#tryLater(name, patience.first);
				this.#failed(problemOf(error, this.#supervised.keyOf(storeKey)));
			}
		} finally {
			this.#attempts.delete(name);
			if (this.#options.until === "done") this.#happened();
		}
	}

	async #finishLeftOver(): Promise<void> {
		if (this.#attempts.has(leftOver)) return;
		this.#attempts.add(leftOver);
		const when = Number.isFinite(this.#searchedAt) ? "in-time" : "after-death";
		this.#searchedAt = this.#now;
		try {
			await this.#supervised.finishLeftOver?.(when);
		} catch (error) {
			if (!this.isStopped) this.#failed({ error });
		} finally {
			this.#attempts.delete(leftOver);
			if (this.#options.until === "done") this.#happened();
		}
	}

	/** Follows a resumed run to its end, and yields it. */
	async #follow(run: AgentRun): Promise<RunResult> {
		if (!this.#running.has(run)) {
			this.#running.add(run);
			this.#taken.push(run);
			this.#happened();
		}
		try {
			return await run.result();
		} finally {
			if (this.#running.delete(run)) this.#happened();
		}
	}

	#leftOpen(name: string, storeKey: string, { error }: RunResult): void {
		if (this.isStopped || error?.code === "lease_lost") return;
		this.#tryLater(name, patience.first);
		// The run itself reports this, and waits for a release.
		if (error?.code === "run_parked") return;
		if (error !== undefined && error.code !== "run_suspended")
			this.#failed(problemOf(error, this.#supervised.keyOf(storeKey)));
	}

	/**
	 * Delays a piece until at least the next scan; after failures, by at least `atLeast` milliseconds and twice the last
	 * delay.
	 */
	#tryLater(name: string, atLeast: number): void {
		const { lookEveryMs = 500 } = this.#options;
		const { waited = 0 } = this.#later.get(name) ?? {};
		const wait = atLeast === 0 ? 0 : Math.min(Math.max(atLeast, 2 * waited), patience.most);
		// Slightly before the next scan, which uses the same clock.
		this.#later.set(name, { at: this.#now + Math.max(wait, lookEveryMs * 0.9), waited: wait });
	}

	#failed(problem: WorkProblem): void {
		this.#report(problem);
		this.#happened();
	}

	#report(problem: WorkProblem): void {
		const { onProblem } = this.#options;
		if (onProblem !== undefined) onProblem(problem);
		else this.#failure ??= problem;
	}

	#happened(): void {
		this.#isNew = true;
		this.#wake();
	}
}

/** Returns the name of a session's piece of work. */
function sessionPiece(storeKey: string): string {
	return `session ${storeKey}`;
}

/** Describes a failure and names its session. */
export function problemOf(error: unknown, sessionKey: string | undefined): WorkProblem {
	return sessionKey === undefined ? { error } : { error, sessionKey };
}
