// Runs code whose calls are recorded, and replays it from the record to the same point (keeps I2, I6).
//
// The same function serves the first execution and every replay: the code receives outcomes only once they are recorded,
// one at a time and in recorded order. It runs as far as it can before it receives the next. Promise.race and all other
// control flow therefore follow the same path each time. Code that is suspended in memory continues where it stopped,
// and does not run again.
//
// States of an execution:
//
// - new: the code has not been started.
// - running: the code runs, or waits for outcomes.
// - ended: the code returned or threw. Its unfinished branches are left: they receive no further outcomes, and their
//   later calls are ignored. Which of them would still run depends on when the process ends, not on the record.
// - diverged: the code made a call that contradicts the record, or did not make a recorded one. It is left: it
//   receives no further outcomes, and cannot catch the error.
import { Branch, type CallHistory, type NewCall } from "./branch.ts";
import {
	branchOf,
	type CodeCalled,
	type CodeOutcome,
	type CodeRecord,
	type CodeSettled,
} from "./code-record.ts";
import { Queue } from "./queue.ts";

/** The first difference between the code and its record. */
export interface Divergence {
	/** The recorded call. */
	readonly expected: Pick<CodeCalled, "id" | "does">;
	/** Another call that the code made instead, or its end. */
	readonly came: Pick<CodeCalled, "id" | "does"> | { readonly end: CodeOutcome };
}

/** How far the code has come. */
export type CodeProgress<Input> =
	/** The code made these calls. They must be recorded in this order before they are performed. */
	| { readonly kind: "calls"; readonly calls: readonly NewCall<Input>[] }
	/**
	 * The code waits. `open` calls have no outcome. If `open` is 0, or if a recorded call is `expected`, the code
	 * awaits a promise that is not one of its calls: `moved()` resolves if it progresses.
	 */
	| { readonly kind: "waits"; readonly open: number; readonly expected?: Pick<CodeCalled, "id" | "does"> }
	/**
	 * The code ended. `open` contains the recorded calls without an outcome, and `calls` those that the code made without
	 * awaiting them and that are not recorded.
	 */
	| {
			readonly kind: "ended";
			readonly outcome: CodeOutcome;
			readonly open: readonly NewCall<Input>[];
			readonly calls: readonly NewCall<Input>[];
	  }
	| { readonly kind: "diverged"; readonly divergence: Divergence };

interface ReplayerOptions<Input> {
	/** The code. */
	run(main: Branch<Input>): unknown;
	/** Calls the function after the microtasks that are due, in a later turn of the event loop. */
	nextTurn(passed: () => void): void;
}

/** A call whose outcome the code has not received. */
interface OpenCall<Input> {
	readonly call: NewCall<Input>;
	resolve(value: unknown): void;
	reject(error: unknown): void;
}

interface UnrecordedCall<Input> {
	readonly call: NewCall<Input>;
	readonly history: CallHistory;
}

type State =
	| { readonly kind: "new" }
	| { readonly kind: "running" }
	| { readonly kind: "ended"; readonly outcome: CodeOutcome }
	| { readonly kind: "diverged"; readonly divergence: Divergence };

/**
 * The effect of replaying the first record. `matched`: the code need not run. `delivered`: the code received its
 * outcome. `answered`: the code received false for an added call and may reach the record now.
 */
type Replayed = "matched" | "delivered" | "answered" | "not-reached" | "diverged";

export class Replayer<Input> {
	readonly #options: ReplayerOptions<Input>;
	#state: State = { kind: "new" };
	/** Records that the code has not reached yet. */
	readonly #records = new Queue<CodeRecord>();
	/** Calls without an outcome, by id. */
	readonly #open = new Map<string, OpenCall<Input>>();
	/** Unrecorded calls, by branch. A branch without any has no entry. */
	readonly #unrecorded = new Map<string, Queue<UnrecordedCall<Input>>>();
	/** Those of them that earlier versions of the code did not make. */
	readonly #added = new Set<UnrecordedCall<Input>>();
	/** Calls that `advance` has not returned yet, in order. */
	readonly #fresh = new Set<UnrecordedCall<Input>>();
	#isAdvancing = false;
	/** Whether the code has made a call or ended since `advance` returned. */
	#movedSince = false;
	/** Settles `moved()`. */
	#movement: { readonly promise: Promise<void>; readonly resolve: () => void } | undefined;

	constructor(options: ReplayerOptions<Input>) {
		this.#options = options;
	}

	/**
	 * Adds records in the order of their commits: those of earlier executions, and each new one once it is committed.
	 * Objects in outcomes are copied for the code.
	 */
	take(records: Iterable<CodeRecord>): void {
		for (const record of records) this.#records.push(record);
	}

	/** Runs the code until its records are used up. One call at a time. */
	async advance(): Promise<CodeProgress<Input>> {
		if (this.#isAdvancing) throw new Error("the code is already advancing");
		this.#isAdvancing = true;
		try {
			if (this.#state.kind === "new") this.#start();
			await this.#turn();
			return this.#progress(await this.#replay());
		} finally {
			this.#movedSince = false;
			this.#isAdvancing = false;
		}
	}

	/** Returns the calls without an outcome, in the order in which the code made them. */
	openCalls(): readonly NewCall<Input>[] {
		return Array.from(this.#open.values(), ({ call }) => call);
	}

	/** Resolves when the code makes a call or ends after `advance` returned. */
	moved(): Promise<void> {
		if (this.#movedSince || this.#state.kind === "ended" || this.#state.kind === "diverged")
			return Promise.resolve();
		if (this.#movement === undefined) {
			let resolve = (): void => {};
			const promise = new Promise<void>((settle) => {
				resolve = settle;
			});
			this.#movement = { promise, resolve };
		}
		return this.#movement.promise;
	}

	#start(): void {
		this.#state = { kind: "running" };
		const main = new Branch<Input>("", { called: (call, history) => this.#called(call, history) });
		const { run } = this.#options;
		new Promise((resolve) => resolve(run(main))).then(
			(value) => this.#ended({ ok: true, value }),
			(error) => this.#ended({ ok: false, error }),
		);
	}

	#ended(outcome: CodeOutcome): void {
		if (this.#state.kind !== "running") return;
		this.#state = { kind: "ended", outcome };
		this.#hasMoved();
	}

	#called(call: NewCall<Input>, history: CallHistory): Promise<unknown> {
		const result = new Promise<unknown>((resolve, reject) => {
			if (this.#state.kind === "running") this.#open.set(call.id, { call, resolve, reject });
		});
		result.catch(() => {}); // A failed call that the code does not await must not end the process.
		if (this.#state.kind !== "running") return result;
		const unrecorded = { call, history };
		const branch = branchOf(call.id);
		const others = this.#unrecorded.get(branch) ?? new Queue<UnrecordedCall<Input>>();
		others.push(unrecorded);
		this.#unrecorded.set(branch, others);
		this.#fresh.add(unrecorded);
		if (history === "added") this.#added.add(unrecorded);
		this.#hasMoved();
		return result;
	}

	#hasMoved(): void {
		this.#movedSince = true;
		this.#movement?.resolve();
		this.#movement = undefined;
	}

	/** Waits until the code can do nothing more. */
	#turn(): Promise<void> {
		return new Promise((resolve) => this.#options.nextTurn(resolve));
	}

	/** Processes the records that the code reaches. Returns the first one that it does not reach yet. */
	async #replay(): Promise<CodeCalled | undefined> {
		for (let record = this.#records.head; record !== undefined; record = this.#records.head) {
			const replayed = record.kind === "called" ? this.#match(record) : this.#deliver(record);
			if (replayed === "not-reached") return record as CodeCalled;
			if (replayed === "diverged") return;
			if (replayed !== "answered") this.#records.shift();
			if (replayed !== "matched") await this.#turn();
		}
		return;
	}

	/** Compares a recorded call with the next call of its branch. */
	#match(expected: CodeCalled): Replayed {
		if (this.#state.kind === "diverged") return "diverged";
		const branch = branchOf(expected.id);
		const next = this.#unrecorded.get(branch)?.head;
		if (next === undefined) {
			if (this.#answerAnyAdded()) return "answered";
			if (this.#state.kind !== "ended") return "not-reached";
			return this.#diverge(expected, { end: this.#state.outcome });
		}
		const { id, does } = next.call;
		if (id === expected.id && does === expected.does) {
			this.#isRecorded(branch);
			return "matched";
		}
		return this.#answerAdded(branch) ? "answered" : this.#diverge(expected, { id, does });
	}

	/**
	 * Resolves an added call that the code awaits before it can reach the next record, in whichever branch. This code would
	 * have recorded the call by now, so an earlier version wrote the record.
	 */
	#answerAnyAdded(): boolean {
		for (const { call } of this.#added) if (this.#answerAdded(branchOf(call.id))) return true;
		return false;
	}

	/** Resolves the next call of the branch to false if it was added after the record was written. */
	#answerAdded(branch: string): boolean {
		const next = this.#unrecorded.get(branch)?.head;
		if (next?.history !== "added") return false;
		this.#isRecorded(branch);
		this.#settle(next.call.id, { ok: true, value: false });
		return true;
	}

	/** Removes the next call of the branch from the unrecorded ones. */
	#isRecorded(branch: string): void {
		const calls = this.#unrecorded.get(branch);
		const next = calls?.shift();
		if (next !== undefined) {
			this.#fresh.delete(next);
			this.#added.delete(next);
		}
		if (calls?.size === 0) this.#unrecorded.delete(branch);
	}

	#diverge({ id, does }: CodeCalled, came: Divergence["came"]): "diverged" {
		this.#state = { kind: "diverged", divergence: { expected: { id, does }, came } };
		this.#open.clear();
		this.#hasMoved();
		return "diverged";
	}

	/** Gives the code an outcome. Its call is recorded, so the code has made it. */
	#deliver({ id, outcome }: CodeSettled): Replayed {
		if (this.#state.kind !== "running") {
			this.#open.delete(id);
			return "matched";
		}
		return this.#settle(id, outcome) ? "delivered" : "matched";
	}

	/** Returns false if the call already has an outcome. */
	#settle(id: string, outcome: CodeOutcome): boolean {
		const open = this.#open.get(id);
		if (open === undefined) return false;
		this.#open.delete(id);
		if (outcome.ok) open.resolve(copyOf(outcome.value));
		else open.reject(outcome.error);
		return true;
	}

	/** `ahead` is a recorded call that the code has not made yet. */
	#progress(ahead: CodeCalled | undefined): CodeProgress<Input> {
		const state = this.#state;
		if (state.kind === "diverged") return state;
		if (ahead !== undefined) {
			const { id, does } = ahead;
			return { kind: "waits", open: this.#open.size, expected: { id, does } };
		}
		const fresh = [...this.#fresh].map(({ call }) => call);
		this.#fresh.clear();
		if (state.kind === "ended") {
			// Calls that were never recorded have not been performed.
			for (const { id } of fresh) this.#open.delete(id);
			return { kind: "ended", outcome: state.outcome, open: this.openCalls(), calls: fresh };
		}
		if (fresh.length > 0) return { kind: "calls", calls: fresh };
		return { kind: "waits", open: this.#open.size };
	}
}

/** Code may change the objects that it receives without changing the record. */
function copyOf(value: unknown): unknown {
	return typeof value === "object" && value !== null ? structuredClone(value) : value;
}
