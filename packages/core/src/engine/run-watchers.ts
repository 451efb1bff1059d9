// The watchers of a run. Events reach all of them in one order: an event that one watcher emits in reaction follows the
// original for each of them, and follows everything committed with it (keeps I3, I7).
import type { BoundaryEvent, RunEvent, Watcher } from "../facts/index.ts";

export class RunWatchers {
	readonly #all: Watcher[];
	/** The number of watchers that can be full. */
	#bounded = 0;
	/** The number of watchers that may have asynchronous work per event. */
	#settling = 0;
	/** Whether an event is being delivered. */
	#isEmitting = false;
	/** Events emitted in reaction. */
	#answers: RunEvent[] | undefined;

	constructor(given: readonly Watcher[] = []) {
		this.#all = [...given];
	}

	/** Whether there are any watchers. */
	get any(): boolean {
		return this.#all.length > 0;
	}

	/** Adds a watcher that never leaves. */
	keep(watcher: Watcher, place: "first" | "last"): void {
		if (place === "first") this.#all.unshift(watcher);
		else this.#all.push(watcher);
	}

	/** Adds a watcher; returns a function that removes it. */
	add(watcher: Watcher): () => void {
		this.#all.push(watcher);
		if (watcher.full !== undefined) this.#bounded++;
		if (watcher.settled !== undefined) this.#settling++;
		return () => {
			const at = this.#all.indexOf(watcher);
			if (at < 0) return;
			this.#all.splice(at, 1);
			if (watcher.full !== undefined) this.#bounded--;
			if (watcher.settled !== undefined) this.#settling--;
		};
	}

	/** Settles when every watcher has room, or has seen what was emitted; undefined if that is already the case. */
	ready(what: "full" | "heard"): Promise<unknown> | undefined {
		if (this.#bounded === 0) return undefined;
		const waiting = this.#all.flatMap((watcher) => watcher[what]?.() ?? []);
		return waiting.length === 0 ? undefined : Promise.all(waiting);
	}

	/** Settles when the watchers have finished handling what was emitted; undefined if they already have. */
	unsettled(): Promise<unknown> | undefined {
		if (this.#settling === 0) return undefined;
		const settling = this.#all.flatMap((watcher) => watcher.settled?.() ?? []);
		return settling.length === 0 ? undefined : Promise.all(settling);
	}

	/** Whether a watcher may hold the run at its next boundary. */
	mayHold(): boolean {
		return this.#all.some(
			(watcher) => watcher.mayHold?.() ?? (watcher.passed ?? watcher.settled) !== undefined,
		);
	}

	emit(event: RunEvent): void {
		if (this.#isEmitting) {
			this.#answers ??= [];
			this.#answers.push(event);
			return;
		}
		this.#isEmitting = true;
		try {
			for (const watcher of this.#all) watcher.notify(event);
		} finally {
			this.#isEmitting = false;
		}
		if (this.#answers !== undefined) this.#emitAnswers();
	}

	/** Emits all events of one commit: the state already contains them, and events in reaction get a later position. */
	emitAll(events: readonly RunEvent[]): void {
		this.#isEmitting = true;
		try {
			for (const event of events) for (const watcher of this.#all) watcher.notify(event);
		} finally {
			this.#isEmitting = false;
		}
		if (this.#answers !== undefined) this.#emitAnswers();
	}

	/** Emits a boundary. Returns a promise while a watcher has not requested the next event. */
	pass(event: BoundaryEvent): Promise<unknown> | undefined {
		let waiting: Promise<unknown> | undefined;
		this.#isEmitting = true;
		try {
			for (const watcher of this.#all) {
				watcher.notify(event);
				const passed = watcher.passed?.(event);
				if (passed !== undefined) waiting = waiting === undefined ? passed : Promise.all([waiting, passed]);
			}
		} finally {
			this.#isEmitting = false;
		}
		if (this.#answers !== undefined) this.#emitAnswers();
		return waiting;
	}

	#emitAnswers(): void {
		const answers = this.#answers ?? [];
		this.#answers = undefined;
		for (const event of answers) this.emit(event);
	}
}
