// One thing at a time: while one piece of work is under way, nobody else takes, starts or resumes a session here.

export class Turnstile {
	readonly #left: () => unknown;
	readonly #next: () => unknown;
	#sleepers: (() => void)[] | undefined;
	#work: Promise<unknown> | undefined;
	#heldElsewhere = false;

	/** `left` is called behind each piece of work, before those who wait for it are woken, `next` when they are. */
	constructor(left: () => unknown, next: () => unknown) {
		this.#left = left;
		this.#next = next;
	}

	get busy(): boolean {
		return this.#work !== undefined;
	}

	/** Whether the work under way waits for another worker that is alive. */
	get heldElsewhere(): boolean {
		return this.#heldElsewhere;
	}

	/** The work under way found out whether it has to wait for another worker. */
	held(elsewhere: boolean): void {
		this.#heldElsewhere = elsewhere;
		if (elsewhere) this.#wakeAll();
	}

	/** Does a piece of work. The caller has looked that nothing else is under way. */
	async through<T>(work: () => Promise<T>): Promise<T> {
		const working = work();
		this.#work = working;
		try {
			return await working;
		} finally {
			this.#work = undefined;
			this.#heldElsewhere = false;
			this.#left();
			this.#wakeAll();
			this.#next();
		}
	}

	/** Resolves when what is under way is done, or waits for another worker. */
	passed(): Promise<void> {
		return new Promise((resolve) => {
			this.#sleepers ??= [];
			this.#sleepers.push(resolve);
		});
	}

	/** Resolves when what is under way is done, well or not. */
	async quiet(): Promise<void> {
		await this.#work?.catch(() => {});
	}

	#wakeAll(): void {
		const sleepers = this.#sleepers;
		this.#sleepers = undefined;
		if (sleepers !== undefined) for (const wake of sleepers) wake();
	}
}
