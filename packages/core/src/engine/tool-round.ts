// The tool calls of one answer, a round: started in order or concurrently, and continued after a crash (keeps I3, I8).
import { after, type ToolCall } from "@holdfast/upp";
import { type CallState, type Fact, noCalls, type ToolSettled } from "../facts/index.ts";
import type { MaybePromise } from "../host/index.ts";
import { type EngineTool, stackOf, type ToolOutcome } from "../tools/index.ts";
import {
	type AdmittedResult,
	type Attached,
	admitResult,
	type CameOut,
	cameOut,
	outcomeOf,
} from "./admit-result.ts";
import { afterCall } from "./after-call.ts";
import type { ShownChild, ShowsChildren } from "./call-context.ts";
import { commitSettled, settledFact, startedFact, traceNotes } from "./call-facts.ts";
import { type CallInRound, neverRan, takeUp } from "./call-in-round.ts";
import { type CheckedCall, HookFailed } from "./check-call.ts";
import { commit } from "./end-run.ts";
import { Launches, type StartsFunctions } from "./launches.ts";
import { prepareCall } from "./prepare-call.ts";
import { RoundCalls } from "./round-calls.ts";
import { type LeftOver, leftOver, RoundEnd, type RoundOptions } from "./round-end.ts";
import type { Run } from "./run.ts";
import type { CommitOptions } from "./run-options.ts";
import { startCall } from "./start-call.ts";
import { StartGate } from "./start-gate.ts";
import { ChildWaits, CommitFailed, Parks } from "./stopped.ts";

const nothingLeft: LeftOver = { calls: [] };
type Answered = "taken" | "over" | "late" | "inputs-wait";

export class ToolRound implements ShowsChildren, StartsFunctions {
	readonly #run: Run;
	readonly #step: number;
	readonly #name: string;
	readonly #concludes: RoundOptions["concludes"];
	readonly #calls: RoundCalls;
	/** For calls of code. */
	readonly #gate: StartGate | undefined;
	/** Set while it is undecided whether the open calls stay open here. Settles once that is recorded. */
	undecided: Promise<void> | undefined;
	#closed = false;
	readonly #launches: Launches;
	/** Whether there is a waiting call that has not been shown. */
	#hidesPending = false;
	readonly #end = new RoundEnd();
	readonly #moved: RoundOptions["moved"];
	readonly ends: RoundOptions["ends"];

	/** `name` identifies the round within the run, and is the same after a crash. */
	constructor(
		run: Run,
		step: number,
		name: string,
		calls: readonly CallState[],
		{ concludes, moved, ends }: RoundOptions = {},
	) {
		this.#concludes = concludes;
		this.#moved = moved;
		this.ends = ends;
		this.#run = run;
		this.#name = name;
		this.#step = step;
		this.#gate = moved === undefined ? undefined : new StartGate();
		this.#calls = new RoundCalls(run, name, calls, moved === undefined ? "answer" : "code");
		this.#launches = new Launches(run, this);
	}

	/**
	 * Returns the calls left for others to settle once every other call has its result; a promise until then. Throws or
	 * rejects if a commit or hook failed.
	 */
	finished(): MaybePromise<LeftOver> {
		return this.#end.get();
	}

	/** Returns a new round of the same calls in their recorded state. */
	again(): ToolRound {
		const calls = this.#run.state.run?.calls.list ?? noCalls.list;
		return new ToolRound(this.#run, this.#step, this.#name, calls, { concludes: this.#concludes });
	}

	/** Adds calls, which `begin` starts. The round must not have ended. */
	add(calls: readonly CallState[]): void {
		this.#calls.add(calls);
	}

	/** Removes added calls whose `begin` was refused, so that none of them was made. */
	remove(calls: readonly ToolCall[]): void {
		this.#gate?.remove(this.#calls.remove(calls));
		// What would have been shown with the calls is shown with the next commit.
		this.#hidesPending = true;
	}

	/** Starts the calls that may start. Commits their origin, and the facts before it, with them if necessary. */
	begin(asked: readonly Fact[]): MaybePromise<void> {
		const facts: Fact[] = [];
		facts.push(...asked); // appended in place: a copy would have no spare capacity
		const pending: [CallInRound, Promise<CheckedCall>][] = [];
		const launches: CallInRound[] = [];
		for (const each of this.#calls.takeFresh()) {
			if (each.phase !== "waiting" || each.waitsFor.size > 0) continue;
			const prepared = prepareCall(this.#run, each, this.#calls.cycleOf(each.call));
			if (prepared instanceof Promise) {
				prepared.catch(() => {}); // handled after the commit; until then a rejection must not count as unhandled
				pending.push([each, prepared]);
			} else this.#decide(each, prepared, facts, launches);
		}
		this.#proceed(facts, launches);
		const begun = (): void => {
			this.#launches.launch(launches);
			for (const [each, prepared] of pending) this.#follow(each, prepared);
			this.#checkDone();
		};
		return after(facts.length > 0 ? this.#run.commit(facts) : true, begun);
	}

	/** Gives this result to every call without one, because the run was asked to stop. Late outcomes are ignored. */
	close(outcome: ToolSettled["outcome"], result: string): Fact[] {
		this.#closed = true;
		this.#run.traces.cut(result);
		const facts = traceNotes(this.#run, this.#step);
		for (const each of this.#calls) {
			if (each.phase === "settled" || each.phase === "settling") continue;
			each.phase = "settled";
			each.context?.close();
			const { came } = each;
			const found =
				came === undefined ? { outcome, result } : { outcome: outcomeOf(came), result: came.output };
			facts.push(this.#settledFact(each, found, came));
		}
		return facts;
	}

	/** Ends the waiting sub-agents before the run that they work for ends. */
	async endChildren(): Promise<void> {
		await Promise.allSettled(this.#calls.in("pending").map(({ child }) => child?.end()));
	}

	/** Ignores later outcomes; the calls stay open in the journal. Returns the ids of those whose functions never ran. */
	abandon(): readonly string[] {
		this.#closed = true;
		for (const { context } of this.#calls) context?.close();
		return neverRan(this.#calls);
	}

	/**
	 * Accepts outside answers, given as facts of waiting calls, while other calls run. Drops those of calls that no longer
	 * wait, and returns `late` if none is left. Accepts nothing if the round has ended, or if `options` require an empty
	 * inbox and it is not empty. Rejects if they cannot be recorded.
	 */
	async answered(given: readonly Fact[], options?: CommitOptions): Promise<Answered> {
		if (this.isOver) return "over";
		const { facts, answered } = this.#calls.answeredBy(given);
		if (facts.length === 0 && options?.drain === undefined) return "late";
		let isTaken = false;
		try {
			isTaken = await this.#run.commit(facts, options);
		} catch (error) {
			if (error instanceof CommitFailed) this.#end.failed(error);
			throw error;
		} finally {
			if (!isTaken && !this.#closed) for (const each of answered) each.phase = "pending";
			if (!isTaken) this.#checkDone();
		}
		if (isTaken) await this.#continue(answered);
		return isTaken ? "taken" : "inputs-wait";
	}

	callOf(toolCallId: string): CallInRound | undefined {
		return this.#calls.find(toolCallId);
	}

	/** Continues calls whose sub-agents have progressed. Returns false if the round has ended. */
	async childrenMoved(callIds: ReadonlySet<string>): Promise<boolean> {
		if (this.isOver) return false;
		const moved = this.#calls.in("pending").filter(({ child }) => child !== undefined);
		await this.#continue(moved.filter(({ call }) => callIds.has(call.toolCallId)));
		return true;
	}

	childShows(callId: string, child: ShownChild | undefined): void {
		const each = this.callOf(callId);
		if (this.isOver || each?.phase !== "running") return;
		each.shown = child;
		this.#hidesPending = true;
		void this.#continue([]);
	}

	/** Continues calls that waited, and the calls that waited for those. */
	async #continue(waited: readonly CallInRound[]): Promise<void> {
		if (this.#closed) return;
		const facts: Fact[] = [];
		const launches: CallInRound[] = [];
		try {
			for (const each of waited) {
				if (each.phase === "settling") {
					each.phase = "settled";
					this.#settledOne(each, facts, launches);
				} else if (this.#run.stopReason !== undefined) each.phase = "pending";
				else this.#prepareNext(takeUp(each, this.#run), facts, launches);
			}
			this.#proceed(facts, launches);
			if (facts.length > 0) await commit(this.#run, facts);
			this.#launches.launch(launches);
			this.#checkDone();
		} catch (error) {
			this.#end.failed(error);
		}
	}

	#prepareNext(each: CallInRound, facts: Fact[], launches: CallInRound[]): void {
		const prepared = prepareCall(this.#run, each, this.#calls.cycleOf(each.call));
		if (prepared instanceof Promise) this.#follow(each, prepared);
		else this.#decide(each, prepared, facts, launches);
	}

	/** Converts the outcome of a check to a fact: the call starts, or it has its result. */
	#decide(each: CallInRound, prepared: CheckedCall, facts: Fact[], launches: CallInRound[]): void {
		if (prepared.kind === "pending") {
			each.phase = "pending";
			each.pending = prepared;
			this.#hidesPending = true;
			return;
		}
		if (prepared.approved !== undefined) each.approved = prepared.approved;
		if (prepared.kind === "settled") {
			each.phase = "settled";
			facts.push(this.#settledFact(each, prepared, prepared));
			this.#settledOne(each, facts, launches);
			return;
		}
		each.input = prepared.input;
		if (this.#gate === undefined) this.#startWith(each, facts, launches);
		else this.#gate.add(each);
	}

	#startWith(each: CallInRound, facts: Fact[], launches: CallInRound[]): void {
		each.phase = "running";
		facts.push(startedFact(this.#step, each));
		launches.push(each);
	}

	/** Another call has its result: calls that waited only for it may be prepared. */
	#settledOne(settled: CallInRound, facts: Fact[], launches: CallInRound[]): void {
		this.#gate?.left(settled);
		const free = this.#calls.settled(settled);
		if (this.#run.stopReason !== undefined) return; // no further call starts
		for (const each of free) this.#prepareNext(each, facts, launches);
	}

	/** Shows waiting calls although no other call runs, because the run continues with something else. */
	async showWaiting(): Promise<void> {
		if (!this.#hidesPending || this.isOver || this.#calls.in("pending").length === 0) return;
		const facts: Fact[] = [];
		this.#showNow(facts);
		await commit(this.#run, facts);
	}

	/** Returns the calls that are left for others to settle. */
	get waiting(): LeftOver {
		return leftOver(this.#run, this.#calls);
	}

	/**
	 * Starts the calls of code whose turn it is. Shows waiting calls with the next commit if other calls still run;
	 * otherwise the end of the round does.
	 */
	#proceed(facts: Fact[], launches: CallInRound[]): void {
		if (this.#run.stopReason !== undefined) return;
		for (const each of this.#gate?.take() ?? []) this.#startWith(each, facts, launches);
		if (this.#hidesPending && this.isUnderWay) this.#showNow(facts);
	}

	#showNow(facts: Fact[]): void {
		const run = this.#run;
		this.#hidesPending = false;
		const shown = { kind: "tools.pending", step: this.#step, ...leftOver(run, this.#calls) } as const;
		facts.push(shown);
		run.round = this;
		run.answers?.shown(shown);
	}

	/** Whether every result is recorded, with no commit of one in flight. */
	get isRecorded(): boolean {
		return this.#run.state.run?.unsettled === this.#calls.left;
	}

	get isUnderWay(): boolean {
		return this.#calls.isUnderWay;
	}

	/** Whether no further outside answers can be accepted. */
	get isOver(): boolean {
		return (
			this.#closed || this.undecided !== undefined || this.#end.isOver || this.#run.stopReason !== undefined
		);
	}

	/** Adds a call whose check takes time once the check is complete. */
	#follow(each: CallInRound, prepared: Promise<CheckedCall>): void {
		prepared
			.then(async (found) => {
				if (this.#closed || this.#run.stopReason !== undefined) return;
				const facts: Fact[] = [];
				const launches: CallInRound[] = [];
				this.#decide(each, found, facts, launches);
				this.#proceed(facts, launches);
				if (facts.length > 0) await commit(this.#run, facts);
				this.#launches.launch(launches);
				this.#checkDone();
			})
			.catch((error) => this.failed(error));
	}

	startFunction(each: CallInRound): boolean {
		if (this.#closed || this.#run.stopReason !== undefined) return false;
		const tool = each.tool as EngineTool;
		if (this.#moved !== undefined) each.cancelling ??= new AbortController();
		const ran = startCall(this.#run, this.#step, each, tool, this);
		void after(ran, (outcome) => this.#finish(each, tool, outcome));
		return true;
	}

	#finish(each: CallInRound, tool: EngineTool, outcome: ToolOutcome): void {
		if (this.#closed) return;
		each.context?.close();
		each.shown = undefined;
		if (outcome.error instanceof ChildWaits) {
			each.phase = "pending";
			each.child = outcome.error;
			this.#gate?.left(each);
			this.#hidesPending = true;
			void this.#continue([]);
			return;
		}
		if (outcome.error instanceof Parks) {
			this.failed(outcome.error);
			return;
		}
		const hook = this.#run.agent.toolStrategy[outcome.isError ? "onError" : "onAfterCall"];
		// A raw outcome that may be replaced is never stored, even if the run is interrupted.
		if (hook !== undefined && this.#run.interceptors.toolResult === undefined) each.came = outcome;
		try {
			if (outcome.error !== undefined) each.stack = stackOf(outcome.error);
			const recorded =
				hook === undefined
					? this.#admitAndRecord(each, cameOut(outcome))
					: afterCall(this.#run, tool, each.input, outcome).then((came) => this.#admitAndRecord(each, came));
			if (recorded instanceof Promise) recorded.catch((error) => this.failed(error));
		} catch (error) {
			this.failed(error); // a synchronous store throws synchronously
		}
	}

	failed(error: unknown): void {
		this.#end.failed(error instanceof HookFailed ? error.cause : error);
	}

	#admitAndRecord(each: CallInRound, { outcome, result, attached }: CameOut): MaybePromise<void> {
		const record = (admitted: AdmittedResult): MaybePromise<void> =>
			this.#closed ? undefined : this.#record(each, admitted, admitted.result === result ? attached : {});
		return after(admitResult(this.#run, each.call, each.input, outcome, result), record);
	}

	#record(each: CallInRound, admitted: AdmittedResult, attached: Attached): MaybePromise<void> {
		// A tool that gave up because the run was suspended did not fail: it stays open to be run again.
		const { stopReason } = this.#run;
		if (admitted.outcome === "error" && stopReason !== undefined && stopReason !== "interrupt") return;
		each.phase = "settled";
		const notes = traceNotes(this.#run, this.#step);
		const settled = this.#settledFact(each, admitted, attached);
		// A list that has grown has capacity for sixteen more items.
		const facts: Fact[] = notes.length === 0 ? [settled] : [...notes, settled];
		const launches: CallInRound[] = [];
		this.#settledOne(each, facts, launches);
		this.#proceed(facts, launches);
		const concludes = this.#gate === undefined ? this.#concludes : "code";
		const committed = commitSettled(this.#run, facts, settled, concludes);
		return after(committed, () => {
			this.#launches.launch(launches);
			this.#checkDone();
		});
	}

	#settledFact(each: CallInRound, admitted: AdmittedResult, attached?: Attached): ToolSettled {
		return settledFact(this.#run, this.#step, each, admitted, attached);
	}

	#checkDone(): void {
		this.#moved?.();
		if (this.#closed || !this.isRecorded) return;
		if (this.#calls.left === 0) this.#end.done(nothingLeft);
		else if (this.#moved === undefined && !this.isUnderWay) this.#end.done(leftOver(this.#run, this.#calls));
	}
}
