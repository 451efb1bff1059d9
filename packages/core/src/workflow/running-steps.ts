// The steps of a run whose functions run in this process, and those that have ended and are not recorded yet.
import type { Run } from "../engine/index.ts";
import type { StepCall } from "./flow-call.ts";
import { type Attempted, attemptStep, recoverStep, type StepAttempt } from "./run-step.ts";

/** An attempt that ended. */
export interface EndedAttempt extends StepAttempt {
	readonly attempted: Attempted | "again";
}

export class RunningSteps {
	readonly #run: Run;
	readonly #signal: AbortSignal;
	readonly #changed: () => void;
	/** By id. */
	readonly #running = new Map<string, Promise<void>>();
	#ended: EndedAttempt[] = [];

	/** `signal` aborts the functions. `changed` is called when an attempt has ended. */
	constructor(run: Run, signal: AbortSignal, changed: () => void) {
		this.#run = run;
		this.#signal = signal;
		this.#changed = changed;
	}

	/** Ids of the steps whose functions run. */
	get ids(): readonly string[] {
		return [...this.#running.keys()];
	}

	get isUnderWay(): boolean {
		return this.#running.size > 0;
	}

	get hasEnded(): boolean {
		return this.#ended.length > 0;
	}

	/** Returns the attempts that have ended since the last time. */
	takeEnded(): readonly EndedAttempt[] {
		return this.#ended.splice(0);
	}

	start({ id, step, attempt }: StepAttempt): void {
		const signal = this.#signal;
		this.#follow({ id, step, attempt }, attemptStep(this.#run, id, step, { attempt, signal }));
	}

	/** Continues a step that another process left open. */
	recover(id: string, step: StepCall, attempt: number): void {
		this.#follow({ id, step, attempt }, recoverStep(this.#run, id, step));
	}

	#follow(about: StepAttempt, attempt: Promise<EndedAttempt["attempted"]>): void {
		const followed = attempt.then((attempted) => {
			this.#running.delete(about.id);
			this.#ended.push({ ...about, attempted });
			this.#changed();
		});
		this.#running.set(about.id, followed);
	}

	/** Resolves when all functions have ended, at the latest after these milliseconds. */
	async over(milliseconds: number): Promise<void> {
		let callOff = (): void => {};
		const late = new Promise<void>((resolve) => {
			callOff = this.#run.agent.ports.timers.after(milliseconds, resolve);
		});
		await Promise.race([Promise.all(this.#running.values()), late]);
		callOff();
	}
}
