// The supervisor: it finds the work of a store that nobody does and has it done (keeps I4, I7). Work is: runs that a dead
// process left open and turns it accepted, calls whose time is over, runs the host has scheduled, reminders nobody gave.
// The journal and the scheduler are asked at intervals, for a process that died notifies nobody. Here one attempt at a
// piece of work is under way at a time; who else works on it is for the journal and the records to say. A piece that fails
// is reported, tried again later and less and less often, and holds up none of the others.
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
	 * Looks once at all there is; each session's first run is yielded as it is resumed. Nothing more is resumed when the signal
	 * fires. `others` finishes what is not of sessions.
	 */
	async *recover(
		{ onProblem }: RecoverOptions,
		signal: AbortSignal,
		others: () => Promise<void>,
	): AsyncGenerator<AgentRun, void, void> {
		const { keyOf, takeOver, scheduled } = this.#supervised;
		// Others resume what is scheduled.
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

	/** Has done what becomes due; yields each run as it is resumed. They continue by themselves. */
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

	/** Sees to it that calls that wait for somebody outside fail in time, in sessions whose process may have died. */
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
			run?.detach(); // it waited, and continues
			// Another worker may have had it, and die: it is looked at until somebody here sees to it.
			if (!watchesDeadline(storeKey)) this.#waiting.missed(storeKey);
		}
	}
}

/** @throws HoldfastError `invalid_option` for options that make no sense. */
function checkWorkOptions({ until = "stopped", atOnce = 1, lookEveryMs }: WorkOptions): void {
	if (until !== "stopped" && until !== "done")
		throw new HoldfastTypeError(
			"invalid_option",
			'The option `until` of work() must be "stopped" or "done".',
		);
	if (!(atOnce >= 1))
		throw new HoldfastTypeError(
			"invalid_option",
			"The option `atOnce` of work() must be a number from 1 on.",
		);
	readDuration("lookEveryMs", lookEveryMs, 500);
}
