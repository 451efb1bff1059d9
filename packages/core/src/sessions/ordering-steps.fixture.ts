// The seed decides when the events of a schedule happen: responses of the store and of tools, and timers. No test waits
// for real time.
import { after } from "@holdfast/upp";
import type { Append, AppendResult, Journal, Lease, MaybePromise } from "../host/index.ts";
import type { Process } from "./ordering-checks.fixture.ts";

/** A future event; events of one lane happen in order. */
interface Step {
	readonly process: Process;
	readonly lane: object;
	run(): void;
}

/** Returns a random generator for a seed. */
export function drawsOf(seed: number): (below: number) => number {
	let state = seed | 0;
	return (below) => {
		state = (state + 0x6d2b79f5) | 0;
		let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
		mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
		return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
	};
}

/** Waits until everything that can settle has settled. */
export const rest = (): Promise<void> =>
	new Promise((resolve) => setImmediate(() => setImmediate(() => setImmediate(resolve))));

export class Steps {
	readonly draw: (below: number) => number;
	/** In some schedules, inputs take a long time on their way into the inbox. */
	readonly #submitsLate: boolean;
	#steps: Step[] = [];
	#timers: { readonly process: Process; wake(): void }[] = [];

	constructor(seed: number) {
		this.draw = drawsOf(seed);
		this.#submitsLate = this.draw(3) === 0;
	}

	get length(): number {
		return this.#steps.length;
	}

	after(process: Process, wake: () => void): () => void {
		const timer = { process, wake };
		this.#timers.push(timer);
		return () => {
			this.#timers = this.#timers.filter((each) => each !== timer);
		};
	}

	/** Drops the pending events of a process that died. */
	drop(process: Process): void {
		this.#steps = this.#steps.filter((step) => step.process !== process);
	}

	/** Makes something happen when the seed decides. */
	pass<T>(process: Process, lane: object, work: () => T | Promise<T>): Promise<T> {
		return new Promise((resolve, reject) => {
			const answer = (settle: () => void): void => {
				if (!process.isDead) settle();
			};
			const run = (): void => {
				Promise.resolve()
					.then(work)
					.then(
						(value) => answer(() => resolve(value)),
						(error) => answer(() => reject(error)),
					);
			};
			if (!process.isDead) this.#steps.push({ process, lane, run });
		});
	}

	/** Makes one of the pending events happen. Returns false if there are no pending events. */
	async step(): Promise<boolean> {
		const lanes = new Set<object>();
		const possible = this.#steps.filter(({ lane }) => !lanes.has(lane) && lanes.add(lane));
		const others = possible.filter(({ lane }) => !("isSubmit" in lane));
		const some = this.#submitsLate && others.length > 0 && this.draw(8) > 0 ? others : possible;
		const step = some[this.draw(Math.max(1, some.length))];
		if (step === undefined) return false;
		this.#steps.splice(this.#steps.indexOf(step), 1);
		step.run();
		await rest();
		return true;
	}

	/** Advances the time of all processes. */
	async wait(): Promise<void> {
		const timers = this.#timers;
		this.#timers = [];
		for (const { process, wake } of timers) if (!process.isDead) wake();
		await rest();
	}
}

/** A process's view of its journal. */
export interface SeenJournal {
	readonly steps: Steps;
	readonly process: Process;
	/** Whether its responses take time. */
	readonly isSlow: boolean;
	append(lease: Lease, batch: Append): MaybePromise<AppendResult>;
	deleted(key: string): void;
}

/** A journal whose responses arrive when the seed decides. */
export function seenJournal(
	inner: Journal,
	{ steps, process, isSlow, append, deleted }: SeenJournal,
): Journal {
	const pass = <T>(work: () => T | Promise<T>, lane: object = {}): T | Promise<T> =>
		isSlow ? steps.pass(process, lane, work) : work();
	const leaseOf = (lease: Lease): Lease => {
		const lane = {};
		return {
			key: lease.key,
			seq: lease.seq,
			...(lease.openRunId === undefined ? {} : { openRunId: lease.openRunId }),
			get epoch() {
				return lease.epoch;
			},
			get isLost() {
				return lease.isLost;
			},
			whenLost: (notify) => lease.whenLost(notify),
			append: (batch) => pass(() => append(lease, batch), lane),
			inbox: () => pass(() => lease.inbox(), lane),
			release: () => pass(() => lease.release(), lane),
		};
	};
	const acquire: Journal["acquire"] = (key, options) => {
		const acquired = pass(() => inner.acquire(key, options));
		const given = (result: Awaited<typeof acquired>): Awaited<typeof acquired> =>
			result.ok ? { ...result, lease: leaseOf(result.lease) } : result;
		return after(acquired, given);
	};
	return {
		name: "ordering",
		workerId: inner.workerId,
		acquire,
		submit: (key, input) => pass(() => inner.submit(key, input), { isSubmit: true }),
		inbox: (key) => pass(() => inner.inbox(key)),
		read: (key, options) => pass(() => inner.read(key, options)),
		head: (key) => pass(() => inner.head(key)),
		list: (options) => pass(() => inner.list(options)),
		isAlive: (workerId) => inner.isAlive(workerId),
		watch: (key, changed) => inner.watch(key, () => (process.isDead ? undefined : changed())),
		fork: (from, to, until) => inner.fork(from, to, until),
		delete: (key, seen) =>
			pass(async () => {
				await inner.delete(key, seen);
				deleted(key);
			}),
		close() {},
	};
}
