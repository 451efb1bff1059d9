// When the calls of code start. A call to a `sequential` tool runs alone: it starts once no other call runs, and the calls
// made after it start once it has ended. Only functions that run count. A call that waits for an approval, an outside
// answer or a sub-agent that waits holds up no other call.
import type { CallInRound } from "./call-in-round.ts";

export class StartGate {
	/** Calls that may run, in the order in which they were checked. */
	#queue: CallInRound[] = [];
	readonly #running = new Set<CallInRound>();
	#isAlone = false;

	/** Adds a call that was checked. */
	add(each: CallInRound): void {
		this.#queue.push(each);
	}

	/** A call runs no longer. */
	left(each: CallInRound): void {
		if (this.#running.delete(each) && this.#running.size === 0) this.#isAlone = false;
	}

	/** Takes the calls that start now. */
	take(): readonly CallInRound[] {
		let taken = 0;
		for (const each of this.#queue) {
			const isSequential = each.tool?.sequential === true;
			if (this.#isAlone || (isSequential && this.#running.size > 0)) break;
			this.#running.add(each);
			this.#isAlone = isSequential;
			taken++;
		}
		return taken === 0 ? [] : this.#queue.splice(0, taken);
	}

	/** Forgets calls that were not made. */
	remove(calls: ReadonlySet<CallInRound>): void {
		this.#queue = this.#queue.filter((each) => !calls.has(each));
		for (const each of calls) this.left(each);
	}
}
