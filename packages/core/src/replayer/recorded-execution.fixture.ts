// Executes code over a record that two workers share, with crashes before and after any append. Which call finishes next
// depends on the record alone, so that an execution with crashes can be compared with one without.
import type { Branch } from "./branch.ts";
import type { CodeOutcome, CodeRecord } from "./code-record.ts";
import { hashOf } from "./program.fixture.ts";
import { type CodeProgress, Replayer } from "./replayer.ts";

export interface Executed {
	readonly result: string;
	/** What the code received, in order, in its last execution. */
	readonly seen: readonly unknown[];
	readonly record: readonly CodeRecord[];
	/** Number of appends. */
	readonly appends: number;
	/** How often each call was performed, by id. */
	readonly performed: ReadonlyMap<string, number>;
}

/** Where a worker dies: before or after an append, counted from 0 over all workers. */
export interface Crash {
	readonly at: number;
	readonly when: "before" | "after";
}

interface Settings {
	/** Which call finishes first, and whether calls fail. */
	readonly seed: number;
	readonly crashes?: readonly Crash[];
	/** `alternate`: two living workers take turns after each append; each catches up with what the other appended. */
	readonly workers?: "one at a time" | "alternate";
}

class Died extends Error {}

export const nextTurn = (passed: () => void): void => void setImmediate(passed);

type Code = (branch: Branch<undefined>, seen: unknown[]) => Promise<unknown>;

export async function execute(code: Code, settings: Settings): Promise<Executed> {
	const store = new Store(settings);
	const workers: Worker[] = [new Worker(code, store)];
	if (settings.workers === "alternate") workers.push(new Worker(code, store));
	for (let turn = 0; turn < 10_000; turn++) {
		const at = turn % workers.length;
		const worker = workers[at] as Worker;
		try {
			const result = await worker.work();
			if (result === undefined) continue;
			const { record, appends, performed } = store;
			return { result, seen: worker.seen, record, appends, performed };
		} catch (error) {
			if (!(error instanceof Died)) throw error;
			workers[at] = new Worker(code, store);
		}
	}
	throw new Error("the code does not end");
}

class Store {
	readonly record: CodeRecord[] = [];
	readonly performed = new Map<string, number>();
	readonly #settings: Settings;
	appends = 0;

	constructor(settings: Settings) {
		this.#settings = settings;
	}

	append(records: readonly CodeRecord[]): void {
		const at = this.appends++;
		const crashes = (when: Crash["when"]): boolean =>
			this.#settings.crashes?.some((crash) => crash.at === at && crash.when === when) === true;
		if (crashes("before")) throw new Died();
		this.record.push(...records);
		if (crashes("after")) throw new Died();
	}

	/** Performs one or two open calls and appends their outcomes at once. Returns false if no call is open. */
	finishSome(): boolean {
		const { seed } = this.#settings;
		const called = this.record.filter((each) => each.kind === "called").map(({ id }) => id);
		const settled = new Set(this.record.filter((each) => each.kind === "settled").map(({ id }) => id));
		const open = called
			.filter((id) => !settled.has(id))
			.sort((one, other) => hashOf(`${seed} ${one}`) - hashOf(`${seed} ${other}`));
		if (open.length === 0) return false;
		const together = hashOf(`${seed} ${this.record.length}`) % 3 === 0 ? 2 : 1;
		const finished = open.slice(0, together);
		for (const id of finished) this.performed.set(id, (this.performed.get(id) ?? 0) + 1);
		this.append(finished.map((id) => ({ kind: "settled", id, outcome: outcomeOf(id, seed) })));
		return true;
	}
}

function outcomeOf(id: string, seed: number): CodeOutcome {
	if (hashOf(`${id} ${seed} fails`) % 5 === 0) return { ok: false, error: new Error(`${id} failed`) };
	return { ok: true, value: { id, number: hashOf(`${id} ${seed}`) % 100 } };
}

class Worker {
	readonly seen: unknown[] = [];
	readonly #replayer: Replayer<undefined>;
	readonly #store: Store;
	#read = 0;

	constructor(code: Code, store: Store) {
		this.#store = store;
		this.#replayer = new Replayer({ run: (main) => code(main, this.seen), nextTurn });
	}

	/** Takes what was newly recorded, and continues until one append is made. Returns the result once the code ends. */
	async work(): Promise<string | undefined> {
		const { record } = this.#store;
		this.#replayer.take(record.slice(this.#read));
		this.#read = record.length;
		const progress = await this.#replayer.advance();
		switch (progress.kind) {
			case "calls":
				this.#store.append(progress.calls.map(({ id, does }) => ({ kind: "called", id, does })));
				return;
			case "waits":
				if (progress.expected !== undefined || !this.#store.finishSome())
					throw new Error(unexpected(progress));
				return;
			case "ended":
				return JSON.stringify(
					progress.outcome.ok ? progress.outcome : { ok: false, error: String(progress.outcome.error) },
				);
			case "diverged":
				throw new Error(unexpected(progress));
		}
	}
}

function unexpected(progress: CodeProgress<undefined>): string {
	return `unexpected: ${JSON.stringify(progress)}`;
}
