// Checks whether a concurrent history could come from a single, sequential object: each operation takes effect at one
// instant between its start and its end. An operation with an unknown outcome, because its process was killed or its
// connection broke, takes effect at any time after its start, or never.
//
// This is the search of Wing and Gong with Lowe's memoisation: it tries each operation that may be next, in each state
// that it may leave, and backtracks if no order of the remaining operations fits.

/** One operation of a history. */
export interface Operation<Input, Output> {
	/** When it started and ended, by one clock for all processes. `Infinity`: the outcome is unknown. */
	readonly begun: number;
	/** When it ended; `Infinity` if the outcome is unknown. */
	readonly ended: number;
	/** The arguments of the operation. */
	readonly input: Input;
	/** Undefined if the outcome is unknown. */
	readonly output: Output | undefined;
}

/** The sequential behaviour of the object. */
export interface SequentialModel<State, Input, Output> {
	/** The state before the first operation. */
	readonly initial: State;
	/** Returns the state after an operation with this outcome; undefined if the outcome is impossible in that state. */
	step(state: State, input: Input, output: Output | undefined): State | undefined;
	/** Returns a text that identifies the state. */
	keyOf(state: State): string;
}

/** The result of `checkLinearizable`. */
export type Linearizability<State, Input, Output> =
	| { readonly ok: true }
	| {
			readonly ok: false;
			/** The longest order found, and the state after it. */
			readonly order: readonly Operation<Input, Output>[];
			readonly state: State;
			/** Operations that could have been next, but were impossible in every order. */
			readonly stuck: readonly Operation<Input, Output>[];
	  };

/** A point in the search: the chosen operation and its alternatives. */
interface Choice<State> {
	readonly chosen: number;
	readonly before: State;
	readonly candidates: readonly number[];
	readonly next: number;
}

/**
 * Searches for an order of the operations that explains every outcome. The time grows with the number of operations, and
 * with the possible orders of concurrent ones.
 */
export function checkLinearizable<State, Input, Output>(
	history: readonly Operation<Input, Output>[],
	model: SequentialModel<State, Input, Output>,
): Linearizability<State, Input, Output> {
	const operations = history.toSorted((one, other) => one.begun - other.begun);
	const isDone = new Uint8Array(operations.length);
	const seen = new Set<string>();
	const choices: Choice<State>[] = [];
	let left = operations.filter(({ ended }) => ended !== Number.POSITIVE_INFINITY).length;
	let state = model.initial;
	let best:
		| { order: Operation<Input, Output>[]; state: State; stuck: Operation<Input, Output>[] }
		| undefined;
	/** All completed operations before this one are placed. */
	let low = 0;
	/** Operations before `low` that are not placed. */
	let open: readonly number[] = [];
	/** No operation after this one is placed. */
	let high = -1;

	/** Returns the unplaced operations that started before any other unplaced one ended. */
	function candidates(): number[] {
		const found: number[] = open.filter((at) => isDone[at] === 0);
		while (low < operations.length) {
			if (isDone[low] === 0) {
				if (operations[low]?.ended !== Number.POSITIVE_INFINITY) break;
				found.push(low);
			}
			low++;
		}
		open = found.slice();
		let firstEnd = Number.POSITIVE_INFINITY;
		for (let at = low; at < operations.length; at++) {
			const { begun, ended } = operations[at] as Operation<Input, Output>;
			if (begun > firstEnd) break;
			if (isDone[at] === 1) continue;
			found.push(at);
			firstEnd = Math.min(firstEnd, ended);
		}
		return found;
	}

	/** Encodes the set of placed operations as a text. */
	function place(): string {
		const last = isDone.lastIndexOf(1, high);
		const done = last < low ? "" : isDone.subarray(low, last + 1).join("");
		return `${low}:${done}:${open.filter((at) => isDone[at] === 0).join()}`;
	}

	function set(at: number, done: 0 | 1): void {
		isDone[at] = done;
		high = Math.max(high, at);
		if (operations[at]?.ended !== Number.POSITIVE_INFINITY) left += done === 1 ? -1 : 1;
	}

	/** Chooses the first of these, starting at `from`, that leads to an unvisited state. */
	function choose(from: number, among: readonly number[]): boolean {
		for (let next = from; next < among.length; next++) {
			const at = among[next] as number;
			const { input, output } = operations[at] as Operation<Input, Output>;
			const after = model.step(state, input, output);
			if (after === undefined) continue;
			set(at, 1);
			const where = `${place()} ${model.keyOf(after)}`;
			if (!seen.has(where)) {
				seen.add(where);
				choices.push({ chosen: at, before: state, candidates: among, next: next + 1 });
				state = after;
				return true;
			}
			set(at, 0);
		}
		return false;
	}

	while (left > 0) {
		const among = candidates();
		if (choose(0, among)) continue;
		if (best === undefined || choices.length > best.order.length)
			best = {
				order: choices.map(({ chosen }) => operations[chosen] as Operation<Input, Output>),
				state,
				stuck: among.map((at) => operations[at] as Operation<Input, Output>),
			};
		for (;;) {
			const last = choices.pop();
			if (last === undefined) return { ok: false, ...best };
			set(last.chosen, 0);
			state = last.before;
			// All operations before these were placed.
			low = Math.min(...last.candidates);
			open = [];
			if (choose(last.next, last.candidates)) break;
		}
	}
	return { ok: true };
}
