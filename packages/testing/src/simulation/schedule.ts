// The scheduler: every asynchronous step of the world waits here until the seed picks it, and time passes only here.
// Between two steps all promises come to rest, so that the same seed gives the same trace (keeps I6).
import type { MaybePromise } from "holdfast/host";
import type { Random } from "./random.ts";

/** Whose step it is: a stopped owner takes no steps, a dead one never again. */
export interface Owner {
	readonly name: string;
	readonly stopped: boolean;
	readonly dead: boolean;
}

/** One thing that will happen. */
export interface Step {
	readonly label: string;
	readonly owner: Owner;
	/** Steps of one lane happen in the order they came. */
	readonly lane?: object;
	/** On its way to the outside: it may happen although its owner is stopped, or has died. */
	readonly underWay?: true;
	/** Nothing else happens until it has settled. */
	run(): MaybePromise<void>;
}

interface Timer {
	readonly due: number;
	readonly owner: Owner;
	readonly wake: () => void;
}

/** More steps than any schedule needs that ends by itself: those with many background tasks take about 25,000. */
const mostSteps = 100_000;

/** Places of child sessions have characters that terminals do not show. */
export function printable(line: string): string {
	return line.replaceAll("\u0000", "|");
}

export class Schedule {
	readonly random: Random;
	readonly trace: string[] = [];
	/** Milliseconds that have passed, the same for all processes. */
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

	/** A timer of a process; returns the way to call it off. */
	after(owner: Owner, milliseconds: number, wake: () => void): () => void {
		const timer = { due: this.now + milliseconds, owner, wake };
		this.#timers.push(timer);
		return () => {
			this.#timers = this.#timers.filter((each) => each !== timer);
		};
	}

	/** Lets time pass; what is due waits for its turn like everything else. */
	pass(milliseconds: number): void {
		this.now += milliseconds;
		const due = this.#timers.filter((timer) => timer.due <= this.now);
		this.#timers = this.#timers.filter((timer) => timer.due > this.now);
		for (const { owner, wake } of due) this.add({ label: `${owner.name}: a timer fires`, owner, run: wake });
	}

	/** Milliseconds until the next timer of a living process; undefined without one. */
	get untilTimer(): number | undefined {
		const due = this.#timers.filter(({ owner }) => !owner.dead).map((timer) => timer.due);
		return due.length === 0 ? undefined : Math.max(0, Math.min(...due) - this.now);
	}

	/** Takes an owner's steps away, but for those that `stays` keeps. */
	drop(owner: Owner, stays: (step: Step) => boolean = () => false): void {
		this.#steps = this.#steps.filter((step) => step.owner !== owner || stays(step));
		this.#timers = this.#timers.filter((timer) => timer.owner !== owner);
	}

	/** Does one of the things that may happen now. False without one. */
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

	/** Until every promise that can settle has. A second turn, for those who let one pass themselves. */
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
