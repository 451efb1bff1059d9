// Passes a run's facts and deltas through policy (keeps I3, I8). Facts are admitted in commit order, even if an
// interceptor takes time. Deltas that were held back are released before the fact that they belong to.
import { after } from "@holdfast/upp";
import { type Fact, modelRetryOf } from "../facts/index.ts";
import type { MaybePromise } from "../host/index.ts";
import type { Admitting, Delta, DeltaSource } from "../policy/index.ts";
import { stepOf } from "./end-run.ts";
import type { Run } from "./run.ts";
import type { CommitOptions } from "./run-options.ts";
import { Stopped } from "./stopped.ts";

/** Milliseconds that interceptors have to answer after the run was stopped. */
const admitGrace = 5_000;

export class RunAdmission {
	readonly #run: Run;
	readonly #admitting: Admitting;
	/** Settles when the earlier commits have been admitted; undefined if they already are. */
	#before: Promise<unknown> | undefined;
	/** Rejects when the interceptors' time is up. Created when the first interceptor needs time. */
	#cut: PromiseWithResolvers<never> | undefined;
	#callOff: (() => void) | undefined;
	/** Facts that are admitted but not committed yet, with the notes that precede them. */
	readonly #ready = new Map<Fact, readonly Fact[]>();

	constructor(run: Run, admitting: Admitting) {
		this.#run = run;
		this.#admitting = admitting;
	}

	/** Admits facts and commits the result. */
	commit(facts: readonly Fact[], options: CommitOptions | undefined): MaybePromise<boolean> {
		const admitted = this.#inOrder(facts);
		return admitted instanceof Promise
			? this.#commitLater(admitted, options)
			: this.#commit(admitted, options);
	}

	#commitLater(admitted: Promise<readonly Fact[]>, options: CommitOptions | undefined): Promise<boolean> {
		let committed: MaybePromise<boolean> = false;
		// The next commit is admitted only once this one is on its way, which preserves their order.
		const begun = this.#untilCut(admitted).then((given) => {
			committed = this.#commit(given, options);
		});
		this.#follow(begun);
		return begun.then(() => committed);
	}

	/**
	 * Admits a fact that will be committed later with others, so that its admitted form can be read before that. The
	 * caller must commit the returned fact unchanged.
	 */
	prepare<F extends Fact>(fact: F): MaybePromise<F> {
		const admitted = this.#inOrder([fact]);
		if (!(admitted instanceof Promise)) return this.#keep(admitted) as F;
		const begun = this.#untilCut(admitted).then((given) => this.#keep(given) as F);
		this.#follow(begun);
		return begun;
	}

	/** Remembers the notes that a fact was admitted with until it is committed. */
	#keep(admitted: readonly Fact[]): Fact {
		const fact = admitted.at(-1) as Fact;
		this.#ready.set(fact, admitted);
		return fact;
	}

	#commit(admitted: readonly Fact[], options: CommitOptions | undefined): MaybePromise<boolean> {
		const committed = this.#run.commitAsIs(admitted, options);
		if (!admitted.some(modelRetryOf)) return committed;
		return after(committed, (isOn) => this.#reportRetries(admitted, isOn));
	}

	/** Emits retries when they are admitted, not when they happen. */
	#reportRetries(admitted: readonly Fact[], committed: boolean): boolean {
		const run = this.#run;
		for (const fact of admitted) {
			const retry = modelRetryOf(fact);
			if (retry !== undefined && run.watched) run.emit({ type: "model_retry", ...run.at, ...retry });
		}
		return committed;
	}

	/** Returns the facts that may be committed, after those of earlier commits. */
	#inOrder(facts: readonly Fact[]): MaybePromise<readonly Fact[]> {
		return this.#before === undefined ? this.#admit(facts) : this.#admitAfter(this.#before, facts);
	}

	async #admitAfter(before: Promise<unknown>, facts: readonly Fact[]): Promise<readonly Fact[]> {
		await before;
		return this.#admit(facts);
	}

	/** Admits facts, except those that already are. */
	#admit(facts: readonly Fact[]): MaybePromise<readonly Fact[]> {
		return this.#ready.size === 0 ? this.#admitNew(facts) : this.#admitFrom(facts, 0, []);
	}

	#admitFrom(facts: readonly Fact[], from: number, admitted: Fact[]): MaybePromise<readonly Fact[]> {
		for (let at = from; at < facts.length; ) {
			const ready = this.#takeReady(facts[at] as Fact);
			if (ready !== undefined) {
				admitted.push(...ready);
				at++;
				continue;
			}
			const end = this.#nextReady(facts, at);
			const fresh = this.#admitNew(facts.slice(at, end));
			if (fresh instanceof Promise) return this.#admitRest(fresh, facts, end, admitted);
			admitted.push(...fresh);
			at = end;
		}
		return admitted;
	}

	async #admitRest(
		fresh: Promise<readonly Fact[]>,
		facts: readonly Fact[],
		from: number,
		admitted: Fact[],
	): Promise<readonly Fact[]> {
		admitted.push(...(await fresh));
		return this.#admitFrom(facts, from, admitted);
	}

	#takeReady(fact: Fact): readonly Fact[] | undefined {
		const ready = this.#ready.get(fact);
		if (ready !== undefined) this.#ready.delete(fact);
		return ready;
	}

	/** Returns the position of the next fact that is already admitted. */
	#nextReady(facts: readonly Fact[], from: number): number {
		let at = from;
		while (at < facts.length && !this.#ready.has(facts[at] as Fact)) at++;
		return at;
	}

	/** Returns the facts that may be committed, after releasing the held parts of their deltas. */
	#admitNew(facts: readonly Fact[]): MaybePromise<readonly Fact[]> {
		return after(this.#admitting.facts(facts, stepOf(this.#run)), (admitted) =>
			this.#flushed(facts, admitted),
		);
	}

	#flushed(facts: readonly Fact[], admitted: readonly Fact[]): MaybePromise<readonly Fact[]> {
		const { deltas } = this.#admitting;
		if (deltas === undefined) return admitted;
		for (let at = 0; at < facts.length; at++) {
			const source = endedWith(facts[at] as Fact);
			const flushed = source && deltas.flush(source, this.#release);
			if (flushed instanceof Promise) return this.#flushRest(flushed, facts.slice(at + 1), admitted);
		}
		return admitted;
	}

	async #flushRest(
		flushed: Promise<void>,
		facts: readonly Fact[],
		admitted: readonly Fact[],
	): Promise<readonly Fact[]> {
		await flushed;
		return this.#flushed(facts, admitted);
	}

	/** Whether deltas are emitted before their fact. */
	get letsOut(): boolean {
		return this.#admitting.deltas !== undefined;
	}

	/** Emits a delta, or the part of it that may be emitted now. Returns a promise while an interceptor needs time. */
	emit(delta: Delta, release: (delta: Delta) => void = this.#release): MaybePromise<void> {
		return this.#admitting.deltas?.push(delta, release);
	}

	/** Emits the held parts of an answer that never finishes. Never rejects. */
	async cutOff(release: (delta: Delta) => void): Promise<void> {
		try {
			await this.#untilCut(Promise.resolve(this.#admitting.deltas?.flush({ model: true }, release)));
		} catch {
			// The held text is dropped.
		}
	}

	readonly #release = (delta: Delta): void => {
		const run = this.#run;
		if (run.watched) run.emit({ ...delta, ...run.at });
	};

	/** The run was stopped: interceptors that do not answer can delay it only for a limited time. */
	stopped(): void {
		const { stopReason } = this.#run;
		if (this.#cut === undefined || stopReason === undefined || this.#callOff !== undefined) return;
		const { reject } = this.#cut;
		const { timers } = this.#run.agent.ports;
		this.#callOff = timers.after(admitGrace, () => reject(new Stopped(stopReason)));
	}

	#follow(begun: Promise<unknown>): void {
		const over: Promise<void> = begun.then(
			() => this.#over(over),
			() => this.#over(over),
		);
		this.#before = over;
	}

	#over(over: Promise<unknown>): void {
		if (this.#before !== over) return;
		this.#before = undefined;
		this.#callOff?.();
		this.#callOff = undefined;
	}

	#untilCut<T>(admitted: Promise<T>): Promise<T> {
		if (this.#cut === undefined) {
			this.#cut = Promise.withResolvers<never>();
			this.#cut.promise.catch(() => {});
		}
		this.stopped();
		return Promise.race([admitted, this.#cut.promise]);
	}
}

/** Returns the source of deltas whose text is complete when the fact exists. */
function endedWith(fact: Fact): DeltaSource | undefined {
	if (fact.kind === "tool.settled") return { toolCallId: fact.callId };
	return fact.kind === "assistant" ? { model: true } : undefined;
}
