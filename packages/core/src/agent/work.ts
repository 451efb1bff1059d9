// What a worker does: it takes up what is due in the sessions of one agent as it becomes due (keeps I4, I7). The journal
// and the scheduler are asked at intervals, for a process that died tells nobody. Here one attempt at a piece of work is
// under way at a time; who else works on it is for the journal and the records to say.

import type { AgentExecution } from "../execution-host/index.ts";
import type { Ports } from "../host/index.ts";
import { type AgentRun, orphanedPlaces, type RunResult, type SessionTable } from "../sessions/index.ts";

/** Options of `agent.work()`. */
export interface WorkOptions {
	/** Ends the work: nothing more is taken up. Runs under way go on; `agent.close()` suspends them. */
	readonly signal?: AbortSignal | undefined;
	/** `stopped` (default): until the signal fires. `done`: until nothing is due and all that was taken up is over. */
	readonly until?: "stopped" | "done" | undefined;
	/** How many runs may be under way before nothing more is taken up. Default: no limit. */
	readonly atOnce?: number | undefined;
	/** Milliseconds from one look at what is due to the next. Default 500. Shorter finds work earlier and costs more. */
	readonly lookEveryMs?: number | undefined;
	/** Which sessions, by the caller's key, to work on. Default: all of the agent's. */
	readonly sessions?: ((sessionKey: string) => boolean) | undefined;
	/**
	 * Told of work that could not be taken up or was left open by a failure; it is tried again later, and less and less
	 * often. Default: the work ends with that error. Must not throw.
	 */
	readonly onProblem?: ((problem: WorkProblem) => void) | undefined;
}

/** Work that could not be done now. */
export interface WorkProblem {
	readonly error: unknown;
	/** The caller's key of the session; absent when the store could not be asked what is due. */
	readonly sessionKey?: string;
}

/** What a worker works with. */
export interface WorkParts {
	readonly table: SessionTable;
	readonly execution: AgentExecution | undefined;
	readonly ports: Ports;
}

/**
 * Milliseconds from one search for untold reminders to the next, where nobody has died meanwhile: it looks at every task in
 * the background there ever was.
 */
const remindEvery = 60_000;
/** Looks that take long come so seldom that they take one part in so many of the time. */
const looksTakeOneIn = 10;
/** Names the search among the pieces of work. */
const reminders = "reminders";
/** Milliseconds before work that failed is tried again, at first and at most. */
const patience = { first: 1_000, most: 60_000 };

/** Something to take up. */
interface Piece {
	/** Where its session stands. */
	readonly place: string;
	readonly name: string;
	/** Null: there is nothing to do now, or somebody else has it. */
	take(): Promise<AgentRun | null>;
	/** After an attempt. */
	over?(): Promise<void>;
}

/** Takes up what is due; yields each run as it is taken up. They go on by themselves. */
export async function* workOn(parts: WorkParts, options: WorkOptions): AsyncGenerator<AgentRun, void, void> {
	checkWorkOptions(options);
	const work = new DueWork(parts, options);
	try {
		while (!work.isStopped) {
			await work.begin();
			for (let run = work.next(); run !== undefined; run = work.next()) yield run;
			if (work.isDone) return;
			await work.changed();
		}
		for (let run = work.next(); run !== undefined; run = work.next()) yield run;
	} finally {
		work.close();
	}
}

class DueWork {
	readonly #parts: WorkParts;
	readonly #options: WorkOptions;
	readonly #stops: readonly (() => void)[];
	/** Names of the pieces under way. */
	readonly #attempts = new Set<string>();
	/** When a piece may be tried again, and how long it waited last. */
	readonly #later = new Map<string, { readonly at: number; readonly waited: number }>();
	readonly #running = new Set<AgentRun>();
	/** What the last look found and has not been begun, from `#next` on. */
	#found: readonly Piece[] = [];
	#next = 0;
	#lookedAt = Number.NEGATIVE_INFINITY;
	/** Whether the last look went through. */
	#hasLooked = false;
	/** Milliseconds that the last look took. */
	#lookTook = 0;
	/** Whether the scheduler has told of something since the last look. */
	#hasNews = false;
	/** Taken up, and not yielded yet. */
	readonly #taken: AgentRun[] = [];
	#wake = (): void => {};
	/** Whether something happened since work was begun last. */
	#isNew = false;
	#failure: { readonly error: unknown } | undefined;
	#remindedAt = Number.NEGATIVE_INFINITY;
	/** Those that were dead when it was looked last. */
	#deaths: ReadonlySet<string> = new Set();

	constructor(parts: WorkParts, options: WorkOptions) {
		this.#parts = parts;
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
			parts.table.whenTakenUp((run) => void this.#follow(run).catch(() => {})),
			parts.execution?.scheduler?.watch(scheduled) ?? (() => {}),
		];
	}

	get isStopped(): boolean {
		return this.#options.signal?.aborted === true;
	}

	/** Whether there is no more to do, for who is to end then. */
	get isDone(): boolean {
		return this.#options.until === "done" && this.#isIdle && this.#hasLooked && !this.#isNew;
	}

	next(): AgentRun | undefined {
		return this.#taken.shift();
	}

	close(): void {
		for (const stop of this.#stops) stop();
	}

	/** Begins what is due, as far as there is room. */
	async begin(): Promise<void> {
		this.#isNew = false;
		try {
			if (this.#isTimeToLook) await this.#look();
			while (this.#next < this.#found.length && !this.isStopped && !this.#isFull) {
				const piece = this.#found[this.#next++] as Piece;
				const isEarly = (this.#later.get(piece.name)?.at ?? 0) > this.#now;
				if (!isEarly && !this.#attempts.has(piece.name)) void this.#attempt(piece);
			}
			this.#isNew ||= this.#hasNews && this.#next >= this.#found.length;
			if (this.#now - this.#remindedAt >= remindEvery && !this.isStopped) void this.#remind();
		} catch (error) {
			// It is asked again at its time, and not at once.
			if (!this.isStopped) this.#report({ error });
		}
		if (this.#failure !== undefined) throw this.#failure.error;
	}

	/**
	 * A look takes the longer the more there is to do. So what one has found is worked on before the next, which comes at
	 * its time, or when there is nothing else to do.
	 */
	get #isTimeToLook(): boolean {
		const { lookEveryMs = 500 } = this.#options;
		const pause = Math.max(lookEveryMs * 0.9, this.#lookTook * looksTakeOneIn);
		if (this.#now - this.#lookedAt >= pause) return true;
		return this.#next >= this.#found.length && (this.#isIdle || this.#hasNews);
	}

	async #look(): Promise<void> {
		this.#hasNews = false;
		this.#hasLooked = false;
		this.#lookedAt = this.#now;
		await this.#lookForDeaths();
		await this.#parts.table.watchDeadlines("soon", (place) => this.#isOurs(place));
		this.#found = [...(await this.#orphaned()), ...(await this.#scheduled())];
		this.#next = 0;
		this.#lookTook = this.#now - this.#lookedAt;
		this.#hasLooked = true;
		const names = new Set(this.#found.map(({ name }) => name));
		for (const name of this.#later.keys()) if (!names.has(name)) this.#later.delete(name);
	}

	/** Whoever died may have left something untold. */
	async #lookForDeaths(): Promise<void> {
		const deaths = new Set(await this.#parts.table.journal.deaths?.());
		for (const death of deaths) if (!this.#deaths.has(death)) this.#remindedAt = Number.NEGATIVE_INFINITY;
		this.#deaths = deaths;
	}

	/** Resolves when there may be something to begin. */
	async changed(): Promise<void> {
		if (this.#isNew || this.isStopped) return;
		const { lookEveryMs = 500 } = this.#options;
		await new Promise<void>((resolve) => {
			const callOff = this.#parts.ports.timers.after(lookEveryMs, resolve);
			this.#wake = () => {
				callOff();
				resolve();
			};
		});
	}

	get #now(): number {
		return this.#parts.ports.clock.monotonic();
	}

	get #isIdle(): boolean {
		return this.#attempts.size === 0 && this.#running.size === 0;
	}

	get #isFull(): boolean {
		const { atOnce = Number.POSITIVE_INFINITY } = this.#options;
		const attempts = this.#attempts.size - (this.#attempts.has(reminders) ? 1 : 0);
		return Math.max(this.#running.size, attempts) >= atOnce;
	}

	/** What nobody alive works on. */
	async #orphaned(): Promise<readonly Piece[]> {
		const { table } = this.#parts;
		return (await orphanedPlaces(table.journal)).flatMap((place) => {
			if (!this.#isOurs(place)) return [];
			return [{ place, name: `session ${place}`, take: () => table.takeOver(place) }];
		});
	}

	/** What the scheduler has for us. */
	async #scheduled(): Promise<readonly Piece[]> {
		const { table, execution } = this.#parts;
		const due = (await execution?.due(table)) ?? [];
		return due.flatMap(({ runId, place }) => {
			if (execution === undefined || !this.#isOurs(place)) return [];
			const take = (): Promise<AgentRun | null> => execution.resume(table, runId);
			return [{ place, name: `run ${runId}`, take, over: () => execution.settle(runId) }];
		});
	}

	#isOurs(place: string): boolean {
		const key = this.#parts.table.rootKeyOf(place);
		return key !== undefined && (this.#options.sessions?.(key) ?? true);
	}

	async #attempt(piece: Piece): Promise<void> {
		const { name, place } = piece;
		this.#attempts.add(name);
		try {
			const run = await piece.take();
			const result = run === null ? undefined : await this.#follow(run);
			await piece.over?.();
			if (run === null) this.#tryLater(name, 0);
			else if (result?.outcome !== "suspended") this.#later.delete(name);
			else this.#leftOpen(name, place, result);
			if (run === null) return;
			this.#happened();
		} catch (error) {
			const { code } = error as { code?: unknown };
			// Another worker was faster: the run goes on there. A run that was scheduled may stand behind a parked one.
			if (code === "session_held") this.#tryLater(name, 0);
			else if (code === "run_parked") this.#tryLater(name, patience.first);
			else if (!this.isStopped) {
				this.#tryLater(name, patience.first);
				this.#failed(this.#problem(place, error));
			}
		} finally {
			this.#attempts.delete(name);
			if (this.#options.until === "done") this.#happened();
		}
	}

	/** Tells what may not have been told of work in the background. */
	async #remind(): Promise<void> {
		if (this.#attempts.has(reminders)) return;
		this.#attempts.add(reminders);
		this.#remindedAt = this.#now;
		try {
			await this.#parts.table.recoverReminders();
		} catch (error) {
			if (!this.isStopped) this.#failed({ error });
		} finally {
			this.#attempts.delete(reminders);
			if (this.#options.until === "done") this.#happened();
		}
	}

	/** Lets a run that was taken up go on, and tells whoever works of it. */
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

	#leftOpen(name: string, place: string, { error }: RunResult): void {
		if (this.isStopped || error?.code === "lease_lost") return;
		this.#tryLater(name, patience.first);
		// Its run says so; it waits for somebody to release it.
		if (error?.code === "run_parked") return;
		if (error !== undefined && error.code !== "run_suspended") this.#failed(this.#problem(place, error));
	}

	/** Not before the next look; after failures, `atLeast` milliseconds and twice as long as the last time. */
	#tryLater(name: string, atLeast: number): void {
		const { lookEveryMs = 500 } = this.#options;
		const { waited = 0 } = this.#later.get(name) ?? {};
		const wait = atLeast === 0 ? 0 : Math.min(Math.max(atLeast, 2 * waited), patience.most);
		// A little earlier than the next look, which comes by the same clock.
		this.#later.set(name, { at: this.#now + Math.max(wait, lookEveryMs * 0.9), waited: wait });
	}

	#problem(place: string, error: unknown): WorkProblem {
		const sessionKey = this.#parts.table.rootKeyOf(place);
		return sessionKey === undefined ? { error } : { error, sessionKey };
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

/** @throws TypeError for options that make no sense. */
function checkWorkOptions({ until = "stopped", atOnce = 1, lookEveryMs = 1 }: WorkOptions): void {
	if (until !== "stopped" && until !== "done")
		throw new TypeError('The option `until` of work() must be "stopped" or "done".');
	if (!(atOnce >= 1)) throw new TypeError("The option `atOnce` of work() must be a number from 1 on.");
	if (!(lookEveryMs > 0))
		throw new TypeError("The option `lookEveryMs` of work() must be a number of milliseconds above 0.");
}
