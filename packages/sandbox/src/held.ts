// Tracks the bytes that the host holds for a guest: reports, logs and results until the run ends, and the arguments of a
// call until the last of its promises is settled.

interface Call {
	readonly size: number;
	promises: number;
}

/** The host memory held for one run. */
export class Held {
	readonly #limit: number;
	#bytes = 0;
	readonly #calls = new Map<number, Call>();

	constructor(limit: number) {
		this.#limit = limit;
	}

	/** Whether the host can hold another value of this size. */
	hasRoom(size: number): boolean {
		return this.#bytes + size <= this.#limit;
	}

	/** Counts a value until the run ends. */
	keep(size: number): void {
		this.#bytes += size;
	}

	/** Counts the arguments of a call that waits for these promises. */
	wait(promises: readonly number[], size: number): void {
		if (promises.length === 0) return;
		const call: Call = { size, promises: promises.length };
		for (const id of promises) this.#calls.set(id, call);
		this.#bytes += size;
	}

	settle(promise: number): void {
		const call = this.#calls.get(promise);
		this.#calls.delete(promise);
		if (call !== undefined && --call.promises === 0) this.#bytes -= call.size;
	}
}
