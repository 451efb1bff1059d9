// The lifecycle of an owner of sessions: an agent, the sessions that a server serves, the threads of a project. Each has
// one of these, and nothing else recovers, supervises or closes; `OwnLife` contains what the owner adds (keeps I4, I7,
// I8, I10).
//
//   open      work is accepted
//   closing   requests that would begin work reject with `agent_closed`; running work has `drainMs` to end
//   closed    work that was still running is suspended, for `recover()` or `supervise()` in another process; all requests reject
//
// recover() finishes, once, what dead processes left. supervise() continues to do so until the owner is closed.
import {
	checkOptions,
	HoldfastError,
	HoldfastTypeError,
	messageOf,
	optionNames,
	readDuration,
} from "@holdfast/upp";
import type { Clock, Timers, Warn } from "../host/index.ts";
import type { AgentRun } from "./agent-run.ts";
import { type Recovery, recovery } from "./recovery.ts";
import { agentClosed } from "./session-errors.ts";
import type { RecoverOptions, SuperviseOptions, WorkOptions, WorkProblem } from "./supervised.ts";
import type { Supervisor } from "./supervisor.ts";

const recoverNames = optionNames<RecoverOptions>({ onProblem: "function" });
const workNames = optionNames<WorkOptions>({
	signal: "signal",
	until: ["stopped", "done"],
	atOnce: true,
	lookEveryMs: true,
	sessions: "function",
	onProblem: "function",
});
const superviseNames = optionNames<SuperviseOptions>({ onProblem: "function", lookEveryMs: true });
const drainNames = optionNames<DrainOptions>({ drainMs: true });

/** Options for closing an owner. */
export interface DrainOptions {
	/**
	 * Milliseconds that runs in progress have to finish. Runs that do not finish are suspended, and continue in another
	 * process. A higher value lets more of them finish and delays the end. Default 0.
	 */
	readonly drainMs?: number;
}

/** The sessions that a lifecycle manages. */
export interface Living {
	/** The clock and the timers that it uses. */
	readonly ports: { readonly clock: Pick<Clock, "now">; readonly timers: Timers };
	/** Receives problems that no caller sees. */
	readonly warn: Warn;
	/** @throws HoldfastError `agent_not_ready` inside a plugin's setup, which would wait for itself. */
	check?(): void;
	/** Finds and resumes the sessions' work; created when first needed. */
	supervisor(): Supervisor;
	/** Refuses requests that would begin work, from now on. */
	refuse(): void;
	/** Resolves when no run is in progress. */
	quiet(): Promise<void>;
	/** Suspends the runs in progress, and refuses all requests from now on. */
	suspend(): Promise<void>;
	/** Releases the sessions' resources. */
	release?(): Promise<void>;
}

/** An owner's additions to the lifecycle of its sessions. */
export interface OwnLife {
	/** Starts background work, until `stop`. Called with each `work()` and `supervise()`. */
	start?(): void;
	/** Finishes, once, other work that dead processes left. */
	recover?(): Promise<void>;
	/**
	 * Resolves when the owner is drained; `quiet` refuses new work and resolves when no run is in progress. Default:
	 * `quiet` alone.
	 */
	drain?(quiet: () => Promise<void>): Promise<unknown>;
	/** Stops what `start` started. Runs are suspended after that. */
	stop?(): Promise<void>;
	/** Releases the owner's resources; the last step before the sessions' own release. */
	release?(): Promise<void>;
}

/** Milliseconds for which a repeated problem is not reported again. */
const reportEvery = 60_000;

/**
 * The lifecycle of an owner of sessions, such as an agent or a service: recovers, works on, supervises and closes them.
 */
export class Lifecycle {
	readonly #living: Living;
	readonly #own: OwnLife;
	/** Fires when the owner is being closed: no further work is searched for or resumed. */
	#ending: AbortController | undefined;
	#closed: Promise<void> | undefined;
	#supervising: { readonly options: SuperviseOptions; readonly looked: Promise<void> } | undefined;
	/** Runs that a recovery resumed and that have not ended. */
	readonly #recovered = new Set<AgentRun>();
	#reported: { readonly what: string; readonly at: number } | undefined;

	/** Creates the lifecycle of these sessions. `own` contains what the owner adds. */
	constructor(living: Living, own: OwnLife = {}) {
		this.#living = living;
		this.#own = own;
	}

	/** False from the moment `close` is called. */
	get isOpen(): boolean {
		return this.#closed === undefined;
	}

	/** @throws HoldfastError `agent_closed` from the moment `close` is called. */
	ensureOpen(): void {
		if (this.#closed !== undefined) throw agentClosed();
	}

	/**
	 * Finishes, once, what dead processes left. If two recoveries overlap, each yields all runs that either of them
	 * resumed.
	 */
	recover(options: RecoverOptions = {}): Recovery {
		checkOptions(options, recoverNames, { of: "recover()" });
		return recovery(() => this.#recover(options));
	}

	async *#recover(options: RecoverOptions): AsyncGenerator<AgentRun, void, void> {
		const signal = this.#enter();
		const seen = new WeakSet<AgentRun>();
		const isNew = (run: AgentRun): boolean => !seen.has(run) && seen.add(run) !== undefined;
		for (const run of this.#recovered) if (isNew(run)) yield run;
		for await (const run of this.#living
			.supervisor()
			.recover(options, signal, async () => this.#own.recover?.())) {
			this.#recovered.add(run);
			void run.over.then(() => this.#recovered.delete(run));
			if (isNew(run)) yield run;
		}
		for (const run of this.#recovered) if (isNew(run)) yield run;
	}

	/** Runs due work until the signal fires or the owner is closed. Yields each run when it resumes. */
	async *work(given: WorkOptions = {}): AsyncGenerator<AgentRun, void, void> {
		checkOptions(given, workNames, { of: "work()" });
		const { signal, ...options } = given;
		const ending = this.#enter();
		const supervisor = this.#living.supervisor();
		this.#own.start?.();
		const either = signal === undefined ? ending : AbortSignal.any([ending, signal]);
		yield* supervisor.work({ ...options, signal: either });
	}

	/**
	 * Works in the background until the owner is closed, and retries what fails. Resolves after the first search for due
	 * work, whether or not it succeeded. Later calls wait for the same search.
	 */
	async supervise(options: SuperviseOptions = {}): Promise<void> {
		checkOptions(options, superviseNames, { of: "supervise()" });
		const signal = this.#enter();
		readDuration("lookEveryMs", options.lookEveryMs, 500);
		this.#supervising ??= { options, looked: this.#supervise(options, signal) };
		const { lookEveryMs, onProblem } = this.#supervising.options;
		if (
			(options.lookEveryMs ?? lookEveryMs) !== lookEveryMs ||
			(options.onProblem ?? onProblem) !== onProblem
		)
			throw new HoldfastTypeError(
				"invalid_option",
				"supervise() is already running, with other options. Call it once.",
			);
		await this.#supervising.looked;
	}

	async #supervise(
		{ lookEveryMs, onProblem = (problem) => this.#report(problem) }: SuperviseOptions,
		signal: AbortSignal,
	): Promise<void> {
		const supervisor = this.#living.supervisor();
		this.#own.start?.();
		const { promise, resolve } = Promise.withResolvers<void>();
		const working = async (): Promise<void> => {
			const work = supervisor.work({ lookEveryMs, onProblem, onLook: resolve, signal });
			for await (const run of work) void run;
		};
		void working()
			.catch((error) => onProblem({ error }))
			.finally(resolve);
		await promise;
	}

	/**
	 * Refuses new work with `agent_closed`, lets runs finish for a limited time, and suspends the others. A second call
	 * waits for the first.
	 * @throws HoldfastError `invalid_option`; `agent_not_ready` within a plugin's setup.
	 */
	async close(options: DrainOptions = {}): Promise<void> {
		checkOptions(options, drainNames, { of: "close()" });
		const { drainMs } = options;
		this.#living.check?.();
		const patience = readDuration("drainMs", drainMs, 0, { least: 0, most: Number.POSITIVE_INFINITY });
		this.#closed ??= this.#close(patience);
		await this.#closed;
	}

	async #close(drainMs: number): Promise<void> {
		this.#ending?.abort();
		if (drainMs > 0) await this.#drain(drainMs);
		else this.#living.refuse();
		await this.#own.stop?.();
		await this.#living.suspend();
		await this.#own.release?.();
		await this.#living.release?.();
	}

	async #drain(drainMs: number): Promise<void> {
		const quiet = async (): Promise<void> => {
			this.#living.refuse();
			await this.#living.quiet();
		};
		const drained = this.#own.drain?.(quiet) ?? quiet();
		if (drainMs === Number.POSITIVE_INFINITY) return void (await drained);
		let callOff = (): void => {};
		const late = new Promise<void>((resolve) => {
			callOff = this.#living.ports.timers.after(drainMs, resolve);
		});
		await Promise.race([drained, late]).finally(callOff);
	}

	#enter(): AbortSignal {
		this.#living.check?.();
		this.ensureOpen();
		this.#ending ??= new AbortController();
		return this.#ending.signal;
	}

	#report({ error, sessionKey }: WorkProblem): void {
		const of =
			sessionKey === undefined ? "Work of dead processes" : `The session ${JSON.stringify(sessionKey)}`;
		const message = `${of} could not be continued, and will be retried: ${messageOf(error)}`;
		const at = this.#living.ports.clock.now();
		const isRepeated = this.#reported?.what === message && at - this.#reported.at < reportEvery;
		if (isRepeated) return;
		this.#reported = { what: message, at };
		const data = sessionKey === undefined ? {} : { data: { sessionKey } };
		this.#living.warn(
			new HoldfastError("recovery_failed", message, { retryable: true, cause: error, ...data }),
		);
	}
}
