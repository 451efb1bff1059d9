// One thing at a time: while one piece of work is under way, nobody else acquires the session, begins or resumes a run.
import type { MaybePromise } from "../host/index.ts";

/** Whose work is done here. */
export interface ExclusiveOwner {
	/** Called after each piece of work, before those who wait for it wake. */
	workIsDone(): void;
	/** Called when they did. */
	workIsFree(): void;
}

export class Exclusive {
	readonly #owner: ExclusiveOwner;
	#sleepers: (() => void)[] | undefined;
	#isBusy = false;
	#isBlocked = false;

	constructor(owner: ExclusiveOwner) {
		this.#owner = owner;
	}

	get isBusy(): boolean {
		return this.#isBusy;
	}

	/** Whether the work under way waits for another process, which may take any time. */
	get isBlocked(): boolean {
		return this.#isBlocked;
	}

	/** The work under way found out whether it has to wait for another process. */
	blocked(isBlocked: boolean): void {
		this.#isBlocked = isBlocked;
		if (isBlocked) this.#wakeAll();
	}

	/** Does a piece of work, and waits only where that does. The caller has checked that nothing else is under way. */
	run<T>(work: () => MaybePromise<T>): MaybePromise<T> {
		this.#isBusy = true;
		let working: MaybePromise<T>;
		try {
			working = work();
		} catch (error) {
			this.#done();
			throw error;
		}
		if (working instanceof Promise) return this.#followed(working);
		this.#done();
		return working;
	}

	async #followed<T>(working: Promise<T>): Promise<T> {
		try {
			return await working;
		} finally {
			this.#done();
		}
	}

	#done(): void {
		this.#isBusy = false;
		this.#isBlocked = false;
		this.#owner.workIsDone();
		this.#wakeAll();
		this.#owner.workIsFree();
	}

	/** Resolves when what is under way is done or blocked. */
	passed(): Promise<void> {
		return new Promise((resolve) => {
			this.#sleepers ??= [];
			this.#sleepers.push(resolve);
		});
	}

	/** Resolves when what is under way has settled. */
	async quiet(): Promise<void> {
		while (this.#isBusy) await this.passed();
	}

	#wakeAll(): void {
		const sleepers = this.#sleepers;
		this.#sleepers = undefined;
		if (sleepers !== undefined) for (const wake of sleepers) wake();
	}
}
