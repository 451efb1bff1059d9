// A run in progress: it commits facts, folds them, notifies watchers, and can be stopped at any moment (keeps I1, I3,
// I8).
import { after, type Message, UPPError } from "@holdfast/upp";
import type { Caller } from "../caller/index.ts";
import type { BoundaryEvent, BoundaryMark, Entry, Fact, Mutable, RunEvent, Watcher } from "../facts/index.ts";
import {
	boundaryOf,
	evolve,
	type FoldOptions,
	PendingMarks,
	project,
	type SessionState,
	withMarks,
} from "../facts/index.ts";
import type { Append, AppendResult, MaybePromise } from "../host/index.ts";
import type { DrivenStages } from "../policy/index.ts";
import type { GenerateResult, SubagentExecutionTrace } from "../state/index.ts";
import type { ToolContext } from "../tools/index.ts";
import { ChunkRecorder } from "./chunk-recorder.ts";
import type { EngineAgent } from "./engine-agent.ts";
import { foldOptions } from "./fold-options.ts";
import type { CommittedFact, Ledger, Mark } from "./ledger.ts";
import type { ModelFailures, ModelWait } from "./model-wait.ts";
import { RunAdmission } from "./run-admission.ts";
import { RunInputs } from "./run-inputs.ts";
import type { RunObserver } from "./run-observer.ts";
import type { CommitOptions, OutsideAnswers, Recorder, RunOptions } from "./run-options.ts";
import { RunWatchers } from "./run-watchers.ts";
import { CommitFailed, Stopped, type StopReason } from "./stopped.ts";
import { TraceCollector } from "./subagent-events.ts";
import type { ToolRound } from "./tool-round.ts";
import { refusedCommit } from "./unwritable.ts";
import { wellFormedFacts } from "./well-formed-facts.ts";

const none: DrivenStages = {};
const stepEnds: readonly BoundaryMark[] = ["step_end"];
const noMarks: readonly BoundaryMark[] = [];
const noTraces: readonly SubagentExecutionTrace[] = [];

export class Run {
	readonly agent: EngineAgent;
	readonly runId: string;
	readonly sessionKey: string | undefined;
	readonly processKey: string | undefined;
	state: SessionState;
	readonly mayWait: boolean;
	/** Whether the model is asked to stream its answers if it can. */
	readonly streams: boolean;
	readonly modelWait: ModelWait | undefined;
	/** Consecutive failures of its model, and the number of answers before them; only set if the run waits in place. */
	modelFailures: (ModelFailures & { readonly cycles: number | undefined }) | undefined;
	readonly parentContext: ToolContext | undefined;
	/** Records kept in addition to the journal. */
	readonly ledger: Ledger | undefined;
	readonly afterStep: RunOptions["afterStep"];
	readonly observer: RunObserver | undefined;
	readonly interceptors: DrivenStages;
	/** Set if facts are admitted before they are committed. */
	readonly admission: RunAdmission | undefined;
	readonly #recorder: Recorder;
	readonly #fold: FoldOptions;
	/** The run's inputs. */
	readonly inputs: RunInputs;
	readonly #watchers: RunWatchers;
	readonly #controller = new AbortController();
	#stopReason: StopReason | undefined;
	#cut: ((error: Stopped) => void) | undefined;
	#sub = 0;
	/** Events that wait until the ledger has the last commit, and a promise of their emission. */
	#recording: { readonly pending: RunEvent[]; readonly emitted: Promise<unknown> } | undefined;
	/** The round of calls that has shown waiting calls. It accepts answers until it ends. */
	round: ToolRound | undefined;
	/** Outside answers to calls while others run; undefined if none are possible. */
	readonly answers: OutsideAnswers | undefined;
	/** Whether the inbox had answers when the run was resumed that have not been taken yet. */
	hasAnswers: boolean;
	systemFailed: { readonly error: unknown } | undefined; // if the agent's \`system\` function failed
	lastWords: string | undefined; // the strategy's final text, if the run ends now
	/** The run's result after policy, once it is recorded; `asked` from the moment policy is asked. */
	left: GenerateResult | "asked" | undefined;
	shown: readonly Message[] | undefined; // what policy last showed the model, if it differs from the journal
	#traces: TraceCollector | undefined;
	#chunks: ChunkRecorder | undefined;
	/** The number of characters that tools of the session have streamed, including the current calls. */
	#streamed: number;
	/** Boundaries that wait to be committed with the next entry; undefined if nothing is stored. */
	readonly #marks: PendingMarks | undefined;

	constructor(options: RunOptions) {
		this.agent = options.agent;
		this.runId = options.runId;
		this.sessionKey = options.sessionKey;
		this.processKey = options.processKey;
		this.mayWait = options.mayWait === true;
		this.streams = options.asks !== "whole";
		this.modelWait = options.modelWait;
		this.state = options.state;
		this.#streamed = options.state.streamed;
		this.parentContext = options.parentContext;
		this.afterStep = options.afterStep;
		this.interceptors = options.interceptors ?? none;
		if (options.admitting !== undefined) this.admission = new RunAdmission(this, options.admitting);
		this.#recorder = options.recorder;
		this.ledger = options.ledger;
		this.inputs = new RunInputs(this, options);
		this.#watchers = new RunWatchers(options.watchers);
		this.observer = options.observer;
		this.answers = options.answers;
		this.hasAnswers = options.hasAnswers === true;
		if (options.observer !== undefined) this.#watchers.keep(options.observer, "last");
		this.#fold = foldOptions(options.agent);
		this.#marks = options.recorder.keeps === "nothing" ? undefined : new PendingMarks();
		if (options.keepDeltasMs === undefined) return;
		const { timers } = options.agent.ports;
		this.#chunks = new ChunkRecorder(timers, options.keepDeltasMs, () => this.#keepChunks(), this.#marks);
		this.#watchers.keep(this.#chunks, "first");
	}

	/** Fires when the run is asked to stop. Models and tools receive it. */
	get signal(): AbortSignal {
		return this.#controller.signal;
	}

	/** The requester; for a sub-agent's call, the requester of its parent. */
	get caller(): Caller | undefined {
		return this.state.run?.started.caller ?? this.parentContext?.caller;
	}

	/** The traces of the sub-agents of this run's tools. */
	get traces(): TraceCollector {
		this.#traces ??= new TraceCollector();
		return this.#traces;
	}

	/** Whether deltas are stored with the session. */
	get keepsDeltas(): boolean {
		return this.#chunks !== undefined;
	}

	/** Adds streamed characters of a tool; returns the new total. */
	toldMore(characters: number): number {
		this.#streamed += characters;
		return this.#streamed;
	}

	/** Returns the traces finished since the last call. */
	takeTraces(): readonly SubagentExecutionTrace[] {
		return this.#traces?.take() ?? noTraces;
	}

	get stopReason(): StopReason | undefined {
		return this.#stopReason;
	}

	/** Whether the run has watchers or will have readers. */
	get watched(): boolean {
		return this.#watchers.any || this.#marks !== undefined;
	}

	/** Adds a watcher; returns a function that removes it. */
	watch(watcher: Watcher): () => void {
		return this.#watchers.add(watcher);
	}

	/** Asks the run to stop. The first reason wins, except that a lost lease or a kill outranks a request. */
	stop(reason: StopReason): void {
		if (this.#stopReason !== undefined && (reason === "interrupt" || reason === "suspend")) return;
		this.#stopReason = reason;
		const error = new UPPError(`The run was cancelled (${reason}).`, "CANCELLED", "holdfast", "llm");
		this.admission?.stopped();
		this.#controller.abort(Object.assign(error, { stopReason: reason }));
		this.#cut?.(new Stopped(reason));
	}

	/** Notifies running tools that the run failed and their results are no longer needed (keeps I8). */
	cancelWork(cause: unknown): void {
		if (this.#controller.signal.aborted) return;
		this.#controller.abort(
			new UPPError(
				"The run failed; its calls in flight are cancelled.",
				"CANCELLED",
				"holdfast",
				"llm",
				undefined,
				cause,
			),
		);
	}

	/** A paused process may have lost its lease, so this is checked before work begins. */
	checkLease(): void {
		this.#recorder.check?.();
	}

	/** Throws if the run was asked to stop. */
	checkStopped(): void {
		if (this.#stopReason !== undefined) throw new Stopped(this.#stopReason);
	}

	/**
	 * Returns the promise's outcome. Rejects with `Stopped` as soon as the run is asked to stop, even if the promise
	 * never settles (keeps I8).
	 */
	untilStopped<T>(given: T | PromiseLike<T>): Promise<T> {
		const promise = Promise.resolve(given);
		const reason = this.#stopReason;
		if (reason !== undefined) {
			promise.catch(() => {});
			return Promise.reject(new Stopped(reason));
		}
		return new Promise<T>((resolve, reject) => {
			this.#cut = reject;
			promise.then(resolve, reject);
		});
	}

	/**
	 * Admits, commits, folds and emits facts. Returns false if `onlyIfNothingWaits` is set and inputs wait. Throws
	 * `CommitFailed` if the store refused; throws an interceptor's own error, and then nothing is committed.
	 */
	commit(facts: readonly Fact[], options?: CommitOptions): MaybePromise<boolean> {
		const { admission } = this;
		if (admission === undefined) return this.commitAsIs(facts, options);
		return admission.commit(facts, options);
	}

	/** Commits facts that are already admitted or have no content that policy could reject. */
	commitAsIs(facts: readonly Fact[], options?: CommitOptions): MaybePromise<boolean> {
		// Earlier events are not committed together with facts that may be refused.
		if (options?.onlyIfNothingWaits) this.#keepChunks();
		return this.#append(this.#batchOf(facts, options));
	}

	/**
	 * Commits the last answer and the end of the run in one append, with the end of the step between them. If inputs
	 * wait, commits only the answer, in its own append. Returns true if the run has ended.
	 */
	commitLast(answer: Fact, ended: Fact): MaybePromise<boolean> {
		const batch = this.#batchOf([answer, { ...ended, marks: stepEnds }]);
		const committed = this.#append({ ...batch, onlyIfNothingWaits: true });
		const alone = (): MaybePromise<false> => {
			const appended = this.#append({ ...batch, facts: this.#marked([answer]) });
			return after(appended, (): false => false);
		};
		return after(committed, (isOver) => isOver || alone());
	}

	/**
	 * Whether the end of a step can be committed with the following facts: it is stored, and no watcher may hold the run
	 * there.
	 */
	get passesStepEnd(): boolean {
		return this.#marks !== undefined && !this.#watchers.mayHold();
	}

	#batchOf(facts: readonly Fact[], options?: CommitOptions): Append {
		const at = this.agent.ports.clock.now();
		const { runId } = this;
		const chunks = this.#chunks?.take() ?? [];
		const batch: Mutable<Append> = { at, runId, facts: this.#marked(facts), ...options };
		if (chunks.length > 0) batch.chunks = chunks;
		return batch;
	}

	#marked(given: readonly Fact[]): readonly Fact[] {
		const facts = wellFormedFacts(given);
		return this.#marks === undefined ? facts : withMarks(facts, this.#marks.take());
	}

	#append(batch: Append): MaybePromise<boolean> {
		let appended: MaybePromise<AppendResult>;
		try {
			appended = this.#recorder.append(batch);
		} catch (error) {
			return refusedCommit(batch, error);
		}
		if (appended instanceof Promise) {
			return appended.then(
				(result) => this.#committed(batch, result),
				(error) => refusedCommit(batch, error),
			);
		}
		return this.#committed(batch, appended);
	}

	/** Commits the chunks since the last facts. If the store refuses them, it will refuse the next facts too. */
	#keepChunks(): void {
		const chunks = this.#chunks?.take() ?? [];
		if (chunks.length === 0) return;
		const { runId } = this;
		try {
			const kept = this.#recorder.append({ at: this.agent.ports.clock.now(), runId, facts: [], chunks });
			if (kept instanceof Promise) kept.catch(() => {});
		} catch {}
	}

	#committed(batch: Append, result: AppendResult): MaybePromise<boolean> {
		if (!result.ok) {
			this.#marks?.putBack(batch.facts[0]?.marks ?? []);
			return false;
		}
		if (this.ledger !== undefined) return this.#recorded(this.ledger, batch, result.seq);
		const before = result.seq - batch.facts.length;
		let seq = before;
		for (const fact of batch.facts) {
			// The marks of the first fact were emitted before the commit.
			if (seq > before) for (const mark of fact.marks ?? noMarks) this.#passed(mark);
			seq++;
			const entry: Entry = { seq, at: batch.at, runId: this.runId, fact };
			this.#evolve(entry);
			if (this.#watchers.any) {
				const event = project(this.state, entry, this.sessionKey);
				if (event !== undefined) this.#watchers.emit(event);
			}
		}
		return true;
	}

	/** Emits a recorded boundary at which no watcher holds the run. */
	#passed(mark: BoundaryMark): void {
		this.#watchers.pass(boundaryOf(mark, this.at, this.state));
	}

	#evolve(entry: Entry): void {
		this.state = evolve(this.state, entry, this.#fold);
		this.#sub = 0;
		this.interceptors.committed?.(entry);
	}

	/** Folds what was committed, and emits it once the ledger has it too. */
	#recorded(ledger: Ledger, batch: Append, lastSeq: number): Promise<boolean> {
		const facts: CommittedFact[] = [];
		const pending: RunEvent[] = [];
		let seq = lastSeq - batch.facts.length;
		for (const fact of batch.facts) {
			seq++;
			const entry: Entry = { seq, at: batch.at, runId: this.runId, fact };
			this.#evolve(entry);
			facts.push({ seq, fact });
			const event = project(this.state, entry, this.sessionKey);
			if (event !== undefined) pending.push(event);
		}
		const settle = (events: readonly RunEvent[]): true => {
			if (this.#recording?.pending === pending) this.#recording = undefined;
			this.#watchers.emitAll(events);
			return true;
		};
		const recorded = ledger.committed(facts, pending.slice());
		const emitted = recorded.then(
			() => settle(pending),
			(error) => settle([]) && commitFailed(error),
		);
		this.#recording = { pending, emitted };
		return emitted;
	}

	/** Makes the ledger record a point of the run. */
	mark(mark: Mark): MaybePromise<void> {
		return this.ledger?.mark(mark, this.state.seq)?.catch(commitFailed);
	}

	/**
	 * Settles when every watcher has room, or has seen what was emitted; undefined if that is already the case. A stop
	 * does not end it.
	 */
	ready(what: "full" | "heard"): Promise<unknown> | undefined {
		return this.#watchers.ready(what);
	}

	/** The position of the next event that has no entry of its own. */
	get at(): { seq: number; sub: number } {
		return { seq: this.state.seq, sub: ++this.#sub };
	}

	/** Returns the next `sub`, for callers where creating a position object each time would be too expensive. */
	nextSub(): number {
		return ++this.#sub;
	}

	emit(event: RunEvent): void {
		this.ledger?.notify(event);
		if (this.#recording === undefined) this.#watchers.emit(event);
		else this.#recording.pending.push(event);
	}

	/** Emits a boundary. Returns a promise while a synchronised watcher has not requested the next event. */
	boundary(event: BoundaryEvent): Promise<unknown> | undefined {
		if (this.#recording !== undefined) return this.#recording.emitted.then(() => this.boundary(event));
		const settling = this.#watchers.unsettled();
		if (settling !== undefined) return this.untilStopped(settling).then(() => this.boundary(event));
		this.#marks?.add(event.type);
		this.ledger?.notify(event);
		const waiting = this.#watchers.pass(event);
		return waiting === undefined ? undefined : this.untilStopped(waiting);
	}
}

function commitFailed(error: unknown): never {
	throw new CommitFailed(error);
}
