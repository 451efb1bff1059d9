// The supervisor: finds the unowned work of a store and runs it (keeps I4, I7). Work is: runs that a dead process left
// open and turns it accepted, expired calls, scheduled runs, missing reminders. The supervisor polls the journal and the
// scheduler, because a dead process notifies no one. This process makes one attempt at a piece of work at a time; between
// processes, the journal and the records decide. Work that fails is reported and retried at growing intervals, and never
// delays other work.
import { HoldfastTypeError, readDuration } from "@holdfast/upp";
import type { AgentRun } from "./agent-run.ts";
import { DueWork, problemOf } from "./due-work.ts";
import { orphans, WaitingSessions } from "./store-keys.ts";
import type { RecoverOptions, Supervised, WorkHooks, WorkOptions, WorkProblem } from "./supervised.ts";

export class Supervisor {
	readonly #supervised: Supervised;
	readonly #waiting: WaitingSessions;

	constructor(supervised: Supervised) {
		this.#supervised = supervised;
		this.#waiting = new WaitingSessions(supervised.journal, supervised.ports.clock);
	}

	/**
	 * Scans everything once, and yields each session's first run when it resumes. Resumes nothing more once the signal
	 * fires. `others` finishes work outside sessions.
	 */
	async *recover(
		{ onProblem }: RecoverOptions,
		signal: AbortSignal,
		others: () => Promise<void>,
	): AsyncGenerator<AgentRun, void, void> {
		const { keyOf, takeOver, scheduled } = this.#supervised;
		// Scheduled runs are resumed elsewhere.
		const collect = async (): Promise<void> => {
			for (const due of (await scheduled?.due()) ?? []) await due.collect?.();
		};
		let failure: { readonly error: unknown } | undefined;
		const report = (problem: WorkProblem): void => {
			if (onProblem !== undefined) onProblem(problem);
			else failure ??= problem;
		};
		for await (const storeKey of orphans(this.#supervised)) {
			if (signal.aborted) return;
			const run = await takeOver(storeKey).catch((error) => report(problemOf(error, keyOf(storeKey))));
			if (run) yield run;
		}
		await this.#watchDeadlines("ever", () => true, report);
		const finishLeftOver = async (): Promise<void> => this.#supervised.finishLeftOver?.("after-death");
		for (const finish of [finishLeftOver, others, collect])
			if (!signal.aborted) await finish().catch((error) => report({ error }));
		if (failure !== undefined) throw failure.error;
	}

	/** Runs due work, and yields each run when it resumes. The runs continue by themselves. */
	async *work(options: WorkOptions & WorkHooks = {}): AsyncGenerator<AgentRun, void, void> {
		checkWorkOptions(options);
		const work = new DueWork(this.#supervised, options, (isOurs, report) =>
			this.#watchDeadlines("soon", isOurs, report),
		);
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

	/** Watches the time limits of waiting calls in sessions whose process may have died. */
	async #watchDeadlines(
		when: "soon" | "ever",
		isOurs: (storeKey: string) => boolean,
		report: (problem: WorkProblem) => void,
	): Promise<void> {
		const { prefix, keyOf, takeOver, watchesDeadline } = this.#supervised;
		for (const storeKey of await this.#waiting.withDeadlines(when, prefix)) {
			const key = keyOf(storeKey);
			if (key === undefined || !isOurs(storeKey)) continue;
			const run = await takeOver(storeKey).catch((error) => report(problemOf(error, key)));
			run?.detach(); // the run waited, and now continues
			// Another worker may have had the session and died: it is checked until this process watches it.
			if (!watchesDeadline(storeKey)) this.#waiting.missed(storeKey);
		}
	}
}

/** @throws HoldfastError `invalid_option` for invalid options. */
function checkWorkOptions({ atOnce = 1, lookEveryMs }: WorkOptions): void {
	if (!(atOnce >= 1))
		throw new HoldfastTypeError(
			"invalid_option",
			"The option `atOnce` of work() must be a number of at least 1.",
		);
	readDuration("lookEveryMs", lookEveryMs, 500);
}
