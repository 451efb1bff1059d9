// Checks whether a concurrent history could come from a single, sequential object: each operation takes effect at one
// instant between its start and its end. An operation with an unknown outcome, because its process was killed or its
// connection broke, takes effect at any time after its start, or never.
//
// The search of Wing and Gong, with Lowe's memoisation: it tries each operation that may be next, in each state that it
// may leave, and backtracks when no order of the others follows.

/** One operation of a history. */
export interface Operation<Input, Output> {
	/** When it began and ended, by one clock of all processes. `Infinity`: its outcome is not known. */
	readonly begun: number;
	readonly ended: number;
	readonly input: Input;
	/** Undefined where its outcome is not known. */
	readonly output: Output | undefined;
}

/** The sequential behaviour of the object. */
export interface SequentialModel<State, Input, Output> {
	readonly initial: State;
	/** The state that an operation with this outcome leaves; undefined where it cannot have it in that state. */
	step(state: State, input: Input, output: Output | undefined): State | undefined;
	/** The same text for the same state, and for no other. */
	keyOf(state: State): string;
}

/** What `checkLinearizable` says. */
export type Linearizability<State, Input, Output> =
	| { readonly ok: true }
	| {
			readonly ok: false;
			/** The longest order that was found, and the state after it. */
			readonly order: readonly Operation<Input, Output>[];
			readonly state: State;
			/** Operations that could have been next, and were possible in no order. */
			readonly stuck: readonly Operation<Input, Output>[];
	  };

/** Where the search has chosen an operation, and what it may choose instead. */
interface Choice<State> {
	readonly chosen: number;
	readonly before: State;
	readonly candidates: readonly number[];
	readonly next: number;
}

/**
 * Looks for an order of the operations in which each has the outcome it had. Time grows with the number of operations, and
 * with the orders of those that were under way at once.
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
	/** Before it all that have ended are done. */
	let low = 0;
	/** Not done, and before `low`. */
	let open: readonly number[] = [];
	/** No one after it is done. */
	let high = -1;

	/** Those not done that began before any other one that is not done had ended. */
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

	/** Which are done, as a text. */
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

	/** Chooses the first of these from `from` on that leads to where the search has not been. */
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
			// All before these were done.
			low = Math.min(...last.candidates);
			open = [];
			if (choose(last.next, last.candidates)) break;
		}
	}
	return { ok: true };
}
