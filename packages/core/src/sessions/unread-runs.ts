// Runs without a reader (keeps I7, I10). A run waits for its consumer at its boundaries. Without a consumer, the run and
// all later turns would wait indefinitely, so it continues by itself after a second.
//
//   fresh      it has started to wait at a boundary in this turn of the event loop: most are requested within it
//   awaited    it waits at a boundary, and has not been requested
//   continues  it was not requested for a second: it continues by itself, with one warning
//
//   fresh → awaited       the event loop has turned
//   awaited → continues   its second has passed, unless `unread` is "wait"
//   any → not tracked     its events or its result are requested, or it has ended
import { HoldfastError } from "@holdfast/upp";
import type { Clock, EventLoop, Lifetime, Timers } from "../host/index.ts";

/** How to treat runs without a reader: continue by themselves, or wait for one. */
export type Unread = "continue" | "wait";

/** Milliseconds that a run waits to be requested. */
const patience = 1_000;
/** The maximum number of runs that a warning names. */
const named = 10;

/** A run without a reader. */
export interface UnreadRun {
	/** When it started to wait at a boundary without a reader. Only `UnreadRuns` sets it. */
	awaitedSince: number | undefined;
	readonly handle: { readonly sessionKey: string; readonly runId: string } | undefined;
	/** Lets the run continue without a reader. */
	continueUnread(): void;
}

/** The dependencies of the watch over unread runs. */
export interface UnreadRunsOptions {
	readonly unread: Unread;
	readonly clock: Pick<Clock, "monotonic">;
	readonly timers: Timers;
	readonly eventLoop: Pick<EventLoop, "nextTurn">;
	readonly lifetime: Lifetime;
	/** Whether unfinished work is lost when the process ends. */
	readonly isVolatile: () => boolean;
	readonly warn: (warning: HoldfastError) => void;
}

export class UnreadRuns {
	readonly #options: UnreadRunsOptions;
	/** May include runs that were requested in the meantime. */
	#fresh: UnreadRun[] = [];
	/** When each run started to wait, the longest-waiting ones first. */
	readonly #awaited = new Map<UnreadRun, number>();
	readonly #continuing = new Set<UnreadRun>();
	#callOff: (() => void) | undefined;
	readonly #look = (): void => {
		for (const run of this.#fresh)
			if (run.awaitedSince !== undefined) this.#awaited.set(run, run.awaitedSince);
		this.#fresh = [];
		if (this.#isEmpty) this.#options.lifetime.ignoreEnd(this.#ending);
		else if (this.#options.unread === "continue" && this.#callOff === undefined) this.#continue();
	};
	#hasWarned = false;
	#isClosed = false;

	constructor(options: UnreadRunsOptions) {
		this.#options = options;
	}

	/** A run waits at a boundary, and has not been requested yet. */
	awaits(run: UnreadRun): void {
		if (this.#isClosed) return;
		const { clock, eventLoop, lifetime } = this.#options;
		if (this.#isEmpty) lifetime.watchEnd(this.#ending);
		if (this.#fresh.length === 0) eventLoop.nextTurn(this.#look);
		run.awaitedSince = clock.monotonic();
		this.#fresh.push(run);
	}

	/** The run has been requested, or has ended. */
	forget(run: UnreadRun): void {
		run.awaitedSince = undefined;
		if (!this.#awaited.delete(run) && !this.#continuing.delete(run)) return;
		if (this.#awaited.size === 0) this.#stopWatching();
		if (this.#isEmpty) this.#options.lifetime.ignoreEnd(this.#ending);
	}

	/** Stops continuing runs. `lost`: their data disappears with their host. */
	close(what: "kept" | "lost"): void {
		if (what === "lost") this.#warnOfLoss("the agent was closed");
		this.#isClosed = true;
		this.#stopWatching();
		this.#fresh = [];
		this.#awaited.clear();
		this.#continuing.clear();
		this.#options.lifetime.ignoreEnd(this.#ending);
	}

	get #isEmpty(): boolean {
		return this.#fresh.length === 0 && this.#awaited.size === 0 && this.#continuing.size === 0;
	}

	#watch(milliseconds: number): void {
		this.#callOff = this.#options.timers.after(milliseconds, () => {
			this.#callOff = undefined;
			this.#continue();
		});
	}

	#stopWatching(): void {
		this.#callOff?.();
		this.#callOff = undefined;
	}

	/** Continues runs whose time has passed. */
	#continue(): void {
		const now = this.#options.clock.monotonic();
		for (const [run, since] of this.#awaited) {
			const left = since + patience - now;
			if (left > 0) {
				this.#watch(left);
				return;
			}
			this.#awaited.delete(run);
			this.#continuing.add(run);
			this.#warn(run);
			run.continueUnread();
		}
	}

	#warn({ handle }: UnreadRun): void {
		if (this.#hasWarned) return;
		this.#hasWarned = true;
		const { sessionKey = "", runId = "" } = handle ?? {};
		this.#options.warn(
			new HoldfastError(
				"run_unread",
				`A run of session ${JSON.stringify(sessionKey)} continues by itself: its events and result were not read for ${patience} ms. ` +
					'Call result(), watch() or events() on it; with `unread: "wait"` it waits. Holdfast warns only once.',
				{ data: { sessionKey, runId } },
			),
		);
	}

	readonly #ending = (): void => {
		if (this.#options.isVolatile()) this.#warnOfLoss("the process ends");
	};

	#warnOfLoss(why: string): void {
		const fresh = this.#fresh.filter(({ awaitedSince }) => awaitedSince !== undefined);
		const lost = [...this.#awaited.keys(), ...this.#continuing, ...fresh].flatMap(
			({ handle }) => handle ?? [],
		);
		if (lost.length === 0) return;
		const runs = lost.map(({ sessionKey, runId }) => ({ sessionKey, runId }));
		const sessions = runs.slice(0, named).map(({ sessionKey }) => JSON.stringify(sessionKey));
		const others = lost.length > named ? ` and ${lost.length - named} more` : "";
		this.#options.warn(
			new HoldfastError(
				"runs_lost",
				`${lost.length} ${lost.length === 1 ? "run was" : "runs were"} not done when ${why}, and is lost because it was only in memory: session ${sessions.join(", ")}${others}. ` +
					"Await result(), or give a durable `host`.",
				{ data: { runs } },
			),
		);
	}
}
