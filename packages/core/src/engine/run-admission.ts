// The way of a run's facts and deltas through policy (keeps I3, I8). Facts are admitted in the order of their commits,
// also where an interceptor takes its time; what is held back of deltas is released before the fact they belong to.
import { type Fact, modelRetryOf } from "../facts/index.ts";
import type { MaybePromise } from "../host/index.ts";
import type { Admitting, Delta, DeltaSource } from "../policy/index.ts";
import { stepOf } from "./end-run.ts";
import type { Run } from "./run.ts";
import type { CommitOptions } from "./run-options.ts";
import { Stopped } from "./stopped.ts";

/** Milliseconds that interceptors get to answer once the run was stopped. */
const admitGrace = 5_000;

export class RunAdmission {
	readonly #run: Run;
	readonly #admitting: Admitting;
	/** Settles when the commits before have been admitted; undefined when they have. */
	#before: Promise<unknown> | undefined;
	/** Rejects when interceptors have had their time. Made with the first that needs any. */
	#cut: PromiseWithResolvers<never> | undefined;
	#callOff: (() => void) | undefined;
	/** Facts that are admitted and not committed yet, with the notes that go before them. */
	readonly #ready = new Map<Fact, readonly Fact[]>();

	constructor(run: Run, admitting: Admitting) {
		this.#run = run;
		this.#admitting = admitting;
	}

	/** Commits facts as they are admitted. */
	commit(facts: readonly Fact[], options: CommitOptions | undefined): MaybePromise<boolean> {
		const admitted = this.#inOrder(() => this.#admit(facts));
		if (!(admitted instanceof Promise)) return this.#commit(admitted, options);
		let committed: MaybePromise<boolean> = false;
		// The next commit is admitted once this one is on its way, which keeps their order.
		const begun = this.#untilCut(admitted).then((given) => {
			committed = this.#commit(given, options);
		});
		this.#follow(begun);
		return begun.then(() => committed);
	}

	/**
	 * Admits a fact that is committed later, with others: what it became may be looked at meanwhile. Whoever commits what
	 * this gives commits it as it is.
	 */
	prepare<F extends Fact>(fact: F): MaybePromise<F> {
		const keep = (admitted: readonly Fact[]): F => {
			const ready = admitted.at(-1) as F;
			this.#ready.set(ready, admitted);
			return ready;
		};
		const admitted = this.#inOrder(() => this.#admit([fact]));
		if (!(admitted instanceof Promise)) return keep(admitted);
		const begun = this.#untilCut(admitted).then(keep);
		this.#follow(begun);
		return begun;
	}

	#commit(admitted: readonly Fact[], options: CommitOptions | undefined): MaybePromise<boolean> {
		const committed = this.#run.commitAsIs(admitted, options);
		if (!admitted.some(modelRetryOf)) return committed;
		return committed instanceof Promise
			? committed.then((isOn) => this.#tellRetries(admitted, isOn))
			: this.#tellRetries(admitted, committed);
	}

	/** Retries are emitted when they are admitted, and not when they happen. */
	#tellRetries(admitted: readonly Fact[], committed: boolean): boolean {
		const run = this.#run;
		for (const fact of admitted) {
			const retry = modelRetryOf(fact);
			if (retry !== undefined && run.watched) run.emit({ type: "model_retry", ...run.at, ...retry });
		}
		return committed;
	}

	/** The facts as they may be committed: those that are admitted already as they are. */
	#admit(facts: readonly Fact[]): MaybePromise<readonly Fact[]> {
		const at = this.#ready.size === 0 ? -1 : facts.findIndex((fact) => this.#ready.has(fact));
		if (at < 0) return this.#admitNew(facts);
		const fact = facts[at] as Fact;
		const ready = this.#ready.get(fact) as readonly Fact[];
		this.#ready.delete(fact);
		const join = (before: readonly Fact[]): MaybePromise<readonly Fact[]> => {
			const after = this.#admit(facts.slice(at + 1));
			return after instanceof Promise
				? after.then((rest) => [...before, ...ready, ...rest])
				: [...before, ...ready, ...after];
		};
		const before = this.#admitNew(facts.slice(0, at));
		return before instanceof Promise ? before.then(join) : join(before);
	}

	/** The facts as they may be committed, once what was held of their deltas is released. */
	#admitNew(facts: readonly Fact[]): MaybePromise<readonly Fact[]> {
		if (facts.length === 0) return facts;
		const admitted = this.#admitting.facts(facts, stepOf(this.#run));
		if (admitted instanceof Promise) return admitted.then((given) => this.#flushed(facts, given));
		return this.#flushed(facts, admitted);
	}

	#flushed(facts: readonly Fact[], admitted: readonly Fact[]): MaybePromise<readonly Fact[]> {
		for (let at = 0; at < facts.length; at++) {
			const source = endedWith(facts[at] as Fact);
			const flushed = source && this.#admitting.deltas?.flush(source, this.#release);
			if (flushed instanceof Promise) return flushed.then(() => this.#flushed(facts.slice(at + 1), admitted));
		}
		return admitted;
	}

	/** Whether deltas are emitted before their fact. */
	get letsOut(): boolean {
		return this.#admitting.deltas !== undefined;
	}

	/** Emits a delta, or what of it may be emitted now. A promise while an interceptor needs time. */
	emit(delta: Delta, release: (delta: Delta) => void = this.#release): MaybePromise<void> {
		return this.#admitting.deltas?.push(delta, release);
	}

	/** Emits what was held of an answer that never finishes. Never rejects. */
	async cutOff(release: (delta: Delta) => void): Promise<void> {
		try {
			await this.#untilCut(Promise.resolve(this.#admitting.deltas?.flush({ model: true }, release)));
		} catch {
			// What is held stays unsaid.
		}
	}

	readonly #release = (delta: Delta): void => {
		const run = this.#run;
		if (run.watched) run.emit({ ...delta, ...run.at });
	};

	/** The run was stopped: interceptors that do not answer hold it up for a while only. */
	stopped(): void {
		const { stopReason } = this.#run;
		if (this.#cut === undefined || stopReason === undefined || this.#callOff !== undefined) return;
		const { reject } = this.#cut;
		const { timers } = this.#run.agent.ports;
		this.#callOff = timers.after(admitGrace, () => reject(new Stopped(stopReason)));
	}

	#inOrder<T>(work: () => MaybePromise<T>): MaybePromise<T> {
		return this.#before === undefined ? work() : this.#before.then(work);
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

/** What has said all it says when the fact is there. */
function endedWith(fact: Fact): DeltaSource | undefined {
	if (fact.kind === "tool.settled") return { toolCallId: fact.callId };
	return fact.kind === "assistant" ? { model: true } : undefined;
}
