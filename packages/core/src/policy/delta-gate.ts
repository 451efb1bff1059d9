// The admission of deltas before they are emitted: they pass each stage in order, in the order of arrival. A stage may
// hold text back; it is flushed when the source of the deltas has ended.
import { after } from "@holdfast/upp";
import type { MaybePromise } from "../host/index.ts";
import type { Delta, DeltaSource, DeltaStage } from "./interceptor.ts";

export class DeltaGate {
	readonly #stages: readonly DeltaStage[];
	/** Settles when the earlier deltas have passed; undefined if they have. */
	#passing: Promise<unknown> | undefined;

	constructor(stages: readonly DeltaStage[]) {
		this.#stages = stages;
	}

	/** Passes each released delta to `release`, in order. Returns a promise if a stage is asynchronous. */
	push(delta: Delta, release: (delta: Delta) => void): MaybePromise<void> {
		if (this.#stages.length === 0) return release(delta);
		return this.#next(() => this.#through([delta], 0), release);
	}

	/** Releases the held deltas of a source. */
	flush(source: DeltaSource, release: (delta: Delta) => void): MaybePromise<void> {
		if (this.#stages.length === 0) return;
		return this.#next(() => this.#flushed(source, 0, []), release);
	}

	#next(work: () => MaybePromise<readonly Delta[]>, release: (delta: Delta) => void): MaybePromise<void> {
		const emit = (deltas: readonly Delta[]): void => {
			for (const delta of deltas) release(delta);
		};
		const worked = this.#passing === undefined ? work() : this.#passing.then(work);
		if (!(worked instanceof Promise)) return emit(worked);
		const passing = worked.then(emit);
		const settled: Promise<void> = passing.then(
			() => this.#passed(settled),
			() => this.#passed(settled),
		);
		this.#passing = settled;
		return passing;
	}

	#passed(settled: Promise<unknown>): void {
		if (this.#passing === settled) this.#passing = undefined;
	}

	#through(deltas: readonly Delta[], from: number): MaybePromise<readonly Delta[]> {
		let passed = deltas;
		for (let at = from; at < this.#stages.length; at++) {
			const stage = this.#stages[at] as DeltaStage;
			const released = pushEach(stage, passed);
			if (released instanceof Promise) return released.then((rest) => this.#through(rest, at + 1));
			passed = released;
		}
		return passed;
	}

	/** Text that a stage releases at the end passes the later stages, which are then flushed too. */
	#flushed(source: DeltaSource, from: number, given: readonly Delta[]): MaybePromise<readonly Delta[]> {
		let passed = given;
		for (let at = from; at < this.#stages.length; at++) {
			const stage = this.#stages[at] as DeltaStage;
			const flushed = flushAfter(stage, source, passed);
			if (flushed instanceof Promise) return flushed.then((rest) => this.#flushed(source, at + 1, rest));
			passed = flushed;
		}
		return passed;
	}
}

function flushAfter(
	stage: DeltaStage,
	source: DeltaSource,
	given: readonly Delta[],
): MaybePromise<readonly Delta[]> {
	const pushed = pushEach(stage, given);
	if (pushed instanceof Promise)
		return pushed.then(async (first) => [...first, ...(await stage.flush(source))]);
	return after(stage.flush(source), (held) => (pushed.length === 0 ? held : [...pushed, ...held]));
}

function pushEach(stage: DeltaStage, deltas: readonly Delta[]): MaybePromise<readonly Delta[]> {
	const released: Delta[] = [];
	for (let at = 0; at < deltas.length; at++) {
		const came = stage.push(deltas[at] as Delta);
		if (came instanceof Promise) {
			return came.then(async (first) => {
				for (const delta of first) released.push(delta);
				for (const left of deltas.slice(at + 1))
					for (const delta of await stage.push(left)) released.push(delta);
				return released;
			});
		}
		for (const delta of came) released.push(delta);
	}
	return released;
}
