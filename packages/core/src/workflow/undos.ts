// The steps of a run that have an `undo`, and how they are undone after a failure.
import type { Branch } from "../replayer/index.ts";
import type { FlowCall, StepCall, StepContext } from "./flow-call.ts";

/** A completed step that can be undone. */
interface Undo {
	readonly name: string;
	readonly call: StepCall;
}

export class Undos {
	/** In the order in which they completed. */
	readonly #completed: Undo[] = [];
	readonly #open = new Set<Promise<unknown>>();

	/** Returns the result of a step. From its completion on, the step can be undone. */
	async follow(
		name: string,
		call: StepCall,
		result: Promise<unknown>,
		undo: (value: never, context: StepContext) => unknown,
	): Promise<unknown> {
		this.#open.add(result);
		try {
			const value = await result;
			const run = (context: StepContext): unknown => undo(value as never, context);
			this.#completed.push({ name, call: { ...call, run, reconcile: undefined } });
			return value;
		} finally {
			this.#open.delete(result);
		}
	}

	/**
	 * Undoes completed steps, the last one first. Open steps are undone once they have completed. Returns the names of those
	 * that could not be undone.
	 */
	async undo(branch: Branch<FlowCall>): Promise<readonly string[]> {
		const failed: string[] = [];
		for (;;) {
			// Code that runs alongside may start further steps.
			while (this.#open.size > 0) await Promise.allSettled(this.#open);
			const next = this.#completed.pop();
			if (next === undefined) return failed;
			const { name, call } = next;
			try {
				await branch.call(`undo ${name}`, "undo", call);
			} catch {
				failed.push(name);
			}
		}
	}
}
