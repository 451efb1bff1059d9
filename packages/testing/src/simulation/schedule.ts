// The scheduler: every asynchronous step waits here until the seed picks it, and time passes only here. All promises
// settle between two steps, so that the same seed produces the same trace (keeps I6).
import type { MaybePromise } from "holdfast/host";
import type { Random } from "./random.ts";

/** The owner of a step: a stopped owner pauses, a dead one takes no further steps. */
export interface Owner {
	readonly name: string;
	readonly stopped: boolean;
	readonly dead: boolean;
}

/** A future step. */
export interface Step {
	readonly label: string;
	readonly owner: Owner;
	/** Steps of one lane keep their order. */
	readonly lane?: object;
	/** Already sent: it may run even if its owner has stopped or died. */
	readonly underWay?: true;
	/** Nothing else runs until it has settled. */
	run(): MaybePromise<void>;
}

interface Timer {
	readonly due: number;
	readonly owner: Owner;
	readonly wake: () => void;
}

/** More steps than any terminating schedule takes: schedules with many background tasks take about 25,000. */
const mostSteps = 100_000;

/** Keys of child sessions contain characters that terminals do not show. */
export function printable(line: string): string {
	return line.replaceAll("\u0000", "|");
}

export class Schedule {
	readonly random: Random;
	readonly trace: string[] = [];
	/** Simulated milliseconds, the same for all processes. */
	now = 0;
	#steps: Step[] = [];
	#timers: Timer[] = [];
	#taken = 0;

	constructor(random: Random) {
		this.random = random;
	}

	note(line: string): void {
		this.trace.push(printable(line));
	}

	add(step: Step): void {
		if (!step.owner.dead || step.underWay) this.#steps.push(step);
	}

	/** Starts a timer of a process; returns a function that cancels it. */
	after(owner: Owner, milliseconds: number, wake: () => void): () => void {
		const timer = { due: this.now + milliseconds, owner, wake };
		this.#timers.push(timer);
		return () => {
			this.#timers = this.#timers.filter((each) => each !== timer);
		};
	}

	/** Advances the time; due timers wait for their turn like all steps. */
	pass(milliseconds: number): void {
		this.now += milliseconds;
		const due = this.#timers.filter((timer) => timer.due <= this.now);
		this.#timers = this.#timers.filter((timer) => timer.due > this.now);
		for (const { owner, wake } of due) this.add({ label: `${owner.name}: a timer fires`, owner, run: wake });
	}

	/** Milliseconds until the next timer of a live process; undefined if there is none. */
	get untilTimer(): number | undefined {
		const due = this.#timers.filter(({ owner }) => !owner.dead).map((timer) => timer.due);
		return due.length === 0 ? undefined : Math.max(0, Math.min(...due) - this.now);
	}

	/** Removes an owner's steps, except those that `stays` keeps. */
	drop(owner: Owner, stays: (step: Step) => boolean = () => false): void {
		this.#steps = this.#steps.filter((step) => step.owner !== owner || stays(step));
		this.#timers = this.#timers.filter((timer) => timer.owner !== owner);
	}

	/** Runs one of the possible steps. Returns false if there is none. */
	async step(): Promise<boolean> {
		const possible = this.#possible();
		if (possible.length === 0) return false;
		if (++this.#taken > mostSteps) throw new Error("the world does not come to rest");
		const step = this.random.pick(possible);
		this.#steps.splice(this.#steps.indexOf(step), 1);
		this.note(step.label);
		await step.run();
		await this.rest();
		return true;
	}

	/** Waits until all promises that can settle have settled. The second turn is for code that waits one turn itself. */
	rest(): Promise<void> {
		return new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
	}

	#possible(): readonly Step[] {
		const lanes = new Set<object>();
		return this.#steps.filter(({ lane, owner, underWay }) => {
			if (lane !== undefined) {
				if (lanes.has(lane)) return false;
				lanes.add(lane);
			}
			return underWay === true || !owner.stopped;
		});
	}
}
