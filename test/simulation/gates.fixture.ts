// A scheduler for worlds of the tests' own: whatever a process waits for happens when the seed says so, or never, and a
// journal whose every answer is such a thing. Nothing waits for real time.
import type { Append, AppendResult, Journal, Lease, MaybePromise, MemoryJournal } from "holdfast/host";

/** Draws of a seed, the same on every machine. */
export class Draws {
	#state: number;

	constructor(seed: number) {
		this.#state = seed | 0;
	}

	below(limit: number): number {
		this.#state = (this.#state + 0x6d2b79f5) | 0;
		let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
		mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
		return ((mixed ^ (mixed >>> 14)) >>> 0) % limit;
	}

	chance(percent: number): boolean {
		return this.below(100) < percent;
	}

	pick<T>(from: readonly T[]): T {
		return from[this.below(from.length)] as T;
	}

	uuid(): string {
		const digits = Array.from({ length: 32 }, () => this.below(16).toString(16)).join("");
		return `${digits.slice(0, 8)}-${digits.slice(8, 12)}-4${digits.slice(13, 16)}-8${digits.slice(17, 20)}-${digits.slice(20)}`;
	}
}

/** Whose step it is. */
export interface Owner {
	readonly name: string;
	dead: boolean;
}

interface Step {
	readonly label: string;
	readonly owner: Owner;
	/** It may come through although its owner died. */
	readonly writes: boolean;
	/** Steps of one lane happen in the order they came. */
	readonly lane: object | undefined;
	run(): void;
}

export class Gates {
	readonly draws: Draws;
	readonly trace: string[] = [];
	now = 0;
	#steps: Step[] = [];
	#timers: { readonly due: number; readonly owner: Owner; readonly wake: () => void }[] = [];

	constructor(draws: Draws) {
		this.draws = draws;
	}

	/** Does something when it is its turn. */
	pass<T>(
		owner: Owner,
		label: string,
		work: () => MaybePromise<T>,
		more: { lane?: object; writes?: true } = {},
	): Promise<T> {
		return new Promise((resolve, reject) => {
			const run = (): void => {
				let came: MaybePromise<T>;
				try {
					came = work();
				} catch (error) {
					this.#answer(owner, () => reject(error));
					return;
				}
				this.#answer(owner, () => resolve(came));
			};
			if (!owner.dead) this.#steps.push({ label, owner, run, lane: more.lane, writes: more.writes === true });
		});
	}

	/** A dead process hears nothing any more. */
	#answer(owner: Owner, answer: () => void): void {
		if (!owner.dead) answer();
	}

	after(owner: Owner, milliseconds: number, wake: () => void): () => void {
		const timer = { due: this.now + milliseconds, owner, wake };
		this.#timers.push(timer);
		return () => {
			this.#timers = this.#timers.filter((each) => each !== timer);
		};
	}

	/** The process is gone. Of what it had sent, the first so many of each lane may still come through. */
	die(owner: Owner): void {
		owner.dead = true;
		const lost = new Set<object>();
		this.#steps = this.#steps.filter((step) => {
			if (step.owner !== owner) return true;
			const isLost =
				!step.writes || (step.lane !== undefined && lost.has(step.lane)) || this.draws.chance(50);
			if (isLost && step.lane !== undefined) lost.add(step.lane);
			return !isLost;
		});
		this.#timers = this.#timers.filter((timer) => timer.owner !== owner);
		this.trace.push(`${owner.name} dies`);
	}

	/** Whether something that a process has sent may still come through. */
	hasSent(owner: Owner): boolean {
		return this.#steps.some((step) => step.owner === owner);
	}

	/** One of the things that may happen now. False without one. */
	async step(): Promise<boolean> {
		const lanes = new Set<object>();
		const possible = this.#steps.filter(({ lane }) => {
			if (lane === undefined) return true;
			if (lanes.has(lane)) return false;
			lanes.add(lane);
			return true;
		});
		if (possible.length === 0) return false;
		const step = this.draws.pick(possible);
		this.#steps.splice(this.#steps.indexOf(step), 1);
		this.trace.push(`${step.owner.name}: ${step.label}`);
		step.run();
		await this.rest();
		return true;
	}

	/** Lets time pass until the next timer. False without one. */
	async wait(): Promise<boolean> {
		const next = this.#timers.toSorted((one, other) => one.due - other.due)[0];
		if (next === undefined) return false;
		this.#timers = this.#timers.filter((timer) => timer !== next);
		this.now = Math.max(this.now, next.due);
		next.wake();
		await this.rest();
		return true;
	}

	/** Until every promise that can settle has. */
	rest(): Promise<void> {
		return new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
	}
}

/** How the appends of a process are done. */
export interface Appends {
	/** A fault on purpose: they are acknowledged before they are committed. */
	readonly early?: boolean;
	/** Commits one when it is its turn. Default: the lease does. */
	commit?(lease: Lease, batch: Append): MaybePromise<AppendResult>;
}

/** A journal as a process has it. */
export function gatedJournal(
	inner: MemoryJournal,
	gates: Gates,
	owner: Owner,
	{ early = false, commit = (lease, batch) => lease.append(batch) }: Appends = {},
): Journal {
	const pass = <T>(
		label: string,
		work: () => MaybePromise<T>,
		more?: { lane?: object; writes?: true },
	): Promise<T> => gates.pass(owner, label, work, more);
	const leaseOf = (lease: Lease): Lease => {
		const lane = {};
		let forecast = lease.seq;
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
			append(batch) {
				const what = batch.facts.map((fact) => ("topic" in fact ? fact.topic : fact.kind)).join(", ");
				const label = `commits to ${lease.key} ${what}`;
				const appended = pass(label, () => commit(lease, batch), { lane, writes: true });
				if (!early) return appended;
				appended.catch(() => {});
				forecast += batch.facts.length;
				return { ok: true, seq: forecast };
			},
			inbox: () => pass(`looks into the inbox of ${lease.key}`, () => lease.inbox(), { lane }),
			release: () => pass(`releases ${lease.key}`, () => lease.release(), { lane, writes: true }),
		};
	};
	return {
		name: "gated",
		workerId: inner.workerId,
		acquire: async (key, options) => {
			const result = await pass(`takes ${key}`, () => inner.acquire(key, options));
			return result.ok ? { ...result, lease: leaseOf(result.lease) } : result;
		},
		submit: (key, input) => pass(`submits to ${key}`, () => inner.submit(key, input)),
		inbox: (key) => pass(`looks into the inbox of ${key}`, () => inner.inbox(key)),
		read: (key, options) => pass(`reads ${key}`, () => inner.read(key, options)),
		head: (key) => pass(`looks at ${key}`, () => inner.head(key)),
		list: (options) => pass("lists sessions", () => inner.list(options)),
		isAlive: (workerId) => inner.isAlive(workerId),
		watch: (key, changed) => inner.watch(key, () => (owner.dead ? undefined : changed())),
		fork: (from, to, until) => inner.fork(from, to, until),
		delete: (key, seen) => inner.delete(key, seen),
		close() {},
	};
}
