// Drives the code of a workflow within a run (keeps I1, I2, I3, I8). One loop makes all commits, one at a time. Events
// outside it (a step ends, a time is reached, an input is offered) are only noted and wake it.
//
// In each round, the loop commits what has ended, gives the code what is recorded, and starts what the code calls. A
// call is recorded before it is performed. If only waits are open, the run is left. The process that left it continues
// the suspended code; another one runs the code again from its record.
import type { HoldfastError } from "@holdfast/upp";
import {
	CodeRound,
	commit,
	isTooLarge,
	Parks,
	type Run,
	receivesInputs,
	Stopped,
	Waits,
	waitStep,
} from "../engine/index.ts";
import type { Fact } from "../facts/index.ts";
import { type Branch, branchOf, type CodeProgress, type NewCall, Replayer } from "../replayer/index.ts";
import { commitEnded } from "./commit-ended.ts";
import { diverged, leftOpen, openChildren, parks, stuck, unreachable } from "./execution-errors.ts";
import type { ContinueCall, FlowCall } from "./flow-call.ts";
import type { ModelWorks } from "./model-work.ts";
import { OpenWaits } from "./open-waits.ts";
import { recordCalls, refused } from "./record-calls.ts";
import { delayAfter, type StepAttempt } from "./run-step.ts";
import { type EndedAttempt, RunningSteps } from "./running-steps.ts";
import type { SuspendedCodes } from "./suspended-code.ts";
import { codeRecords, noteOf, stateOf, toolCallIdOf } from "./workflow-notes.ts";

/** Milliseconds that running steps have to end when a run is suspended. */
const suspendGrace = 250;
/** Milliseconds that the code may await something other than its calls while none of them is open. */
const foreignGrace = 10_000;

/** The data that a process keeps about a workflow's runs. */
export interface KeptInProcess {
	readonly suspended: SuspendedCodes;
	readonly works: ModelWorks;
	/** Lines of the code that were reported to use unrecorded values. */
	readonly seen: Set<string>;
}

/** How the code ended: with its result, or to begin again. */
export type CarriedOut = { readonly kind: "ended"; readonly value: unknown } | { readonly kind: "continues" };

export type CodeOf = (main: Branch<FlowCall>) => unknown;

export class Execution {
	readonly #run: Run;
	readonly #replayer: Replayer<FlowCall>;
	readonly #waits: OpenWaits;
	readonly #suspended: SuspendedCodes;
	readonly #works: ModelWorks;
	/** Children that the code has cancelled and that have not ended, by the id of their call. */
	readonly #cancelled = new Set<string>();
	readonly #steps: RunningSteps;
	/** Calls of tools and sub-agents. */
	readonly #calls: CodeRound;
	readonly #controller = new AbortController();
	/** How many records were taken. */
	#read = 0;
	/** Whether the calls of tools that earlier processes left open are continued. */
	#isResumed = false;
	/** Attempts of open steps that earlier processes made, by id; undefined once they are continued. */
	#attempts: Map<string, number> | undefined = new Map();
	#wake = (): void => {};
	#isWoken = false;

	constructor(run: Run, code: CodeOf, { suspended, works }: KeptInProcess) {
		this.#run = run;
		this.#suspended = suspended;
		this.#works = works;
		this.#calls = new CodeRound(run, () => this.#wakeUp());
		this.#steps = new RunningSteps(run, this.#controller.signal, () => this.#wakeUp());
		const { eventLoop } = run.agent.ports;
		const kept = suspended.take(stateOf(run).records);
		this.#waits = kept?.waits ?? new OpenWaits();
		this.#replayer =
			kept?.replayer ??
			new Replayer<FlowCall>({ run: code, nextTurn: (passed) => eventLoop.nextTurn(passed) });
		if (kept === undefined) return;
		this.#read = kept.read;
		this.#attempts = undefined;
	}

	/**
	 * Runs the code until it ends, or begins again. Rejects with the error that ends the run, or to leave it.
	 */
	async carryOut(): Promise<CarriedOut> {
		const run = this.#run;
		const abort = (): void => this.#controller.abort(run.signal.reason);
		run.signal.addEventListener("abort", abort);
		run.inputs.whenOffered = () => this.#wakeUp();
		try {
			for (;;) {
				await run.agent.fairness.pause();
				run.checkStopped();
				const ended = await this.#round();
				if (ended !== undefined) return ended;
			}
		} catch (error) {
			if (error instanceof Stopped && error.reason === "suspend") await this.#recordLast();
			if (!(error instanceof Waits)) throw await this.#calls.cutShort(error);
			const code = { replayer: this.#replayer, waits: this.#waits, read: this.#read };
			this.#suspended.keep(stateOf(run).records, code);
			throw error;
		} finally {
			run.inputs.whenOffered = undefined;
			run.signal.removeEventListener("abort", abort);
			// A run that is left or has ended does not need functions that are still running.
			this.#controller.abort(run.signal.reason);
		}
	}

	async #round(): Promise<CarriedOut | undefined> {
		const run = this.#run;
		this.#isWoken = false;
		this.#calls.check();
		if (run.inputs.any) await run.inputs.take("step-end");
		if (this.#steps.hasEnded) {
			const facts = this.#steps.takeEnded().map((each) => this.#ended(each));
			await commitEnded(run, facts, this.#calls.isOpen || this.#waits.awaitsEvent);
		}
		this.#takeRecords();
		const due = this.#waits.settled(run.agent.ports.clock.now());
		if (due.facts.length > 0) await commitEnded(run, due.facts, false);
		if (due.retries.length > 0) await this.#tryAgain(due.retries);
		this.#takeRecords();
		const progress = await run.untilStopped(this.#replayer.advance());
		if (progress.kind === "diverged") throw parks(diverged(progress.divergence));
		// Nothing is continued before the code has matched its record.
		const hasMatched = progress.kind !== "waits" || progress.expected === undefined;
		const isFirst = hasMatched && !this.#isResumed;
		this.#isResumed ||= hasMatched;
		if (isFirst) {
			await this.#resume();
			const fresh = progress.kind === "calls" ? progress.calls : [];
			const open = this.#replayer.openCalls();
			const again = open.find((call) => call.input.kind === "continue" && !fresh.includes(call));
			if (again !== undefined && progress.kind !== "ended") return await this.#beginAgain(again);
		}
		switch (progress.kind) {
			case "ended":
				return this.#end(progress);
			case "calls": {
				this.#continueOpen(new Set(progress.calls.map(({ id }) => id)));
				const again = progress.calls.findIndex(({ input }) => input.kind === "continue");
				if (again >= 0) return await this.#continueAsNew(progress.calls.slice(0, again + 1));
				await this.#begin(progress.calls);
				return undefined;
			}
			case "waits":
				if (isFirst) return undefined; // calls may have their results now
				if (progress.expected === undefined && this.#continueOpen(nothing)) return undefined;
				if (progress.expected === undefined) await this.#idle(progress.open);
				else await this.#foreign(() => diverged({ expected: progress.expected as never, came: "nothing" }));
				return undefined;
			default:
				progress satisfies never;
				return undefined;
		}
	}

	/** Continues the calls that were open when the run was left. The code has made them again. */
	async #resume(): Promise<void> {
		for (const call of this.#replayer.openCalls()) this.#keepWork(call);
		await this.#calls.resume();
		await this.#cancel(this.#cancelled);
	}

	/** Returns the result of the code. Waits of branches that nothing awaits end with it. */
	async #end({
		outcome,
		open,
		calls,
	}: Extract<CodeProgress<FlowCall>, { kind: "ended" }>): Promise<CarriedOut> {
		await this.#beginLast(calls);
		// The children of a run that fails are cancelled like its other calls.
		if (outcome.ok) this.#checkChildren(open);
		await this.#leaveOpen(open);
		if (!outcome.ok) throw outcome.error;
		return { kind: "ended", value: outcome.value };
	}

	/** Records the log and state that the code wrote without awaiting them. */
	async #beginLast(calls: readonly NewCall<FlowCall>[]): Promise<void> {
		const branches = new Set<string>();
		const last = calls.filter(({ id, input }) => {
			// Earlier calls of the branch that are not recorded would be missing in the record.
			if (input.kind !== "value") branches.add(branchOf(id));
			return !branches.has(branchOf(id));
		});
		if (last.length > 0) await this.#begin(last);
	}

	/** Throws, to park the run, if the calls contain children that the code spawned. */
	#checkChildren(open: readonly NewCall<FlowCall>[]): void {
		const children = open.filter(({ id, does }) => does === "spawn" && !this.#cancelled.has(id));
		if (children.length > 0) throw new Parks("open-children", openChildren(children.map(({ id }) => id)));
	}

	/** Ends what the code has left open. */
	async #leaveOpen(open: readonly NewCall<FlowCall>[]): Promise<void> {
		const { ids, isUnderWay } = this.#steps;
		if (isUnderWay) this.#run.agent.warn(leftOpen(this.#run, ids));
		await this.#calls.close();
		this.#dropWorks(open);
	}

	#dropWorks(calls: readonly NewCall<FlowCall>[]): void {
		for (const { id } of calls) this.#works.delete(this.#toolCallId(id));
	}

	/** Begins the code again, as the last of the calls asks. Later actions of the code have no effect. */
	async #continueAsNew(calls: readonly NewCall<FlowCall>[]): Promise<CarriedOut | undefined> {
		const call = calls.at(-1) as NewCall<FlowCall>;
		const { id, does } = call;
		await this.#beginLast(calls);
		this.#checkChildren(this.#replayer.openCalls());
		try {
			// The store may refuse the input, so what is open is cancelled only once the input is recorded.
			if (this.#calls.isOpen) await this.#commit([noteOf.called({ id, does, input: inputOf(call) })]);
			return await this.#beginAgain(call);
		} catch (error) {
			if (!isTooLarge(error)) throw error;
			await refused(this.#run, call, error);
			return undefined;
		}
	}

	async #beginAgain(call: NewCall<FlowCall>): Promise<CarriedOut> {
		await this.#leaveOpen(this.#replayer.openCalls());
		await this.#commit([noteOf.continued({ id: call.id, input: inputOf(call) })]);
		return { kind: "continues" };
	}

	#toolCallId(id: string): string {
		return toolCallIdOf(this.#run.runId, stateOf(this.#run), id);
	}

	#keepWork({ id, input }: NewCall<FlowCall>): void {
		if (input.kind === "tool" && input.work !== undefined) this.#works.set(this.#toolCallId(id), input.work);
	}

	async #cancel(calls: Iterable<string>): Promise<void> {
		for (const id of [...calls]) await this.#calls.cancel(this.#toolCallId(id));
	}

	/** Gives the code, and the open waits, what was committed since the last time, in the form that policy admitted. */
	#takeRecords(): void {
		const { records } = stateOf(this.#run);
		for (const record of records.from(this.#read)) {
			this.#waits.take(record);
			if (record.kind === "cancelled") this.#cancelled.add(record.note.of);
			if (record.kind === "tool") {
				this.#cancelled.delete(record.id);
				this.#works.delete(this.#toolCallId(record.id));
			}
			if (record.kind === "retried") this.#attempts?.set(record.note.id, record.note.attempt);
			if (record.kind === "started") this.#attempts?.set(record.note.id, record.note.attempt);
			this.#replayer.take(codeRecords(record));
		}
		this.#read = records.length;
	}

	/** Records the calls, and then performs them. */
	async #begin(calls: readonly NewCall<FlowCall>[]): Promise<void> {
		for (const call of calls) this.#keepWork(call);
		const recorded = await recordCalls(this.#run, this.#calls, calls);
		if (recorded.length < calls.length) this.#dropWorks(calls.filter((call) => !recorded.includes(call)));
		for (const { id, input: step } of recorded)
			if (step.kind === "step") this.#steps.start({ id, step, attempt: 1 });
		await this.#cancel(recorded.flatMap(({ input }) => (input.kind === "cancel" ? [input.of] : [])));
	}

	/**
	 * Continues the calls that earlier processes left open, once the code has made them again. Returns true if there were
	 * any.
	 */
	#continueOpen(fresh: ReadonlySet<string>): boolean {
		const attempts = this.#attempts;
		if (attempts === undefined) return false;
		this.#attempts = undefined;
		let any = false;
		for (const { id, input } of this.#replayer.openCalls()) {
			if (input.kind !== "step" || fresh.has(id)) continue;
			any = true;
			if (this.#waits.retries(id, input)) continue;
			this.#steps.recover(id, input, attempts.get(id) ?? 1);
		}
		return any;
	}

	/** Records and starts further attempts of steps. */
	async #tryAgain(due: readonly StepAttempt[]): Promise<void> {
		await this.#commit(due.map(({ id, attempt }) => noteOf.started({ id, attempt })));
		for (const each of due) this.#steps.start(each);
	}

	/** Returns the fact of an attempt that ended. Another attempt of the step waits for its time. */
	#ended({ id, step, attempt, attempted }: EndedAttempt): Fact {
		if (attempted === "again") {
			const until = this.#run.agent.ports.clock.now();
			this.#waits.awaitRetry(id, step);
			return noteOf.retried({ id, attempt, until });
		}
		const { error } = attempted;
		if (error === undefined) {
			const { value } = attempted;
			return noteOf.settled(value === undefined ? { id } : { id, value });
		}
		if (attempted.isFinal || attempt > step.retries) return noteOf.settled({ id, error });
		this.#waits.awaitRetry(id, step);
		const until = this.#run.agent.ports.clock.now() + delayAfter(step, attempt);
		return noteOf.retried({ id, attempt, until, error });
	}

	/** Waits until something happens, here or outside. */
	async #idle(open: number): Promise<void> {
		const run = this.#run;
		if (this.#isWoken || run.inputs.any || this.#steps.hasEnded) return;
		const next = this.#waits.next();
		if (this.#steps.isUnderWay || this.#calls.isUnderWay) {
			await this.#calls.show();
			return this.#isWoken ? undefined : this.#woken(next?.until);
		}
		if (open === 0) return this.#foreign(() => stuck(run));
		// Only waits are open. An input, or the earliest time, ends this wait.
		if (this.#calls.isOpen) return this.#calls.leave(next ?? { tag: "answer" });
		if (next === undefined) throw new Error("a call is open that is never performed");
		if (next.until === undefined && !receivesInputs(run))
			return this.#commit(this.#waits.endless().map((wait) => unreachable(wait)));
		await waitStep(run, { kind: "wait", ...next });
	}

	/** Waits for a step, an input, the code itself, or a time. */
	async #woken(until: number | undefined): Promise<void> {
		const left = until && Math.min(Math.max(0, until - this.#run.agent.ports.clock.now()), longestTimer);
		const woken = new Promise<void>((resolve) => {
			this.#wake = resolve;
		});
		await this.#within(left, Promise.race([woken, this.#replayer.moved()]), () => {});
	}

	/** The code awaits something that is not a call. It may be about to continue; if not, it never will. */
	async #foreign(errorOf: () => HoldfastError): Promise<void> {
		await this.#within(foreignGrace, this.#replayer.moved(), () => {
			throw parks(errorOf());
		});
	}

	/** Settles like `work`, or like `late` if that takes longer. A stop of the run rejects. */
	async #within(milliseconds: number | undefined, work: Promise<void>, late: () => void): Promise<void> {
		let callOff = (): void => {};
		const passed = new Promise<void>((resolve) => {
			if (milliseconds !== undefined) callOff = this.#run.agent.ports.timers.after(milliseconds, resolve);
		}).then(late);
		await this.#run.untilStopped(Promise.race([work, passed])).finally(callOff);
	}

	#wakeUp(): void {
		this.#isWoken = true;
		this.#wake();
	}

	/** A run that is suspended keeps the results of steps that end at once. */
	async #recordLast(): Promise<void> {
		await this.#steps.over(suspendGrace);
		const facts = this.#steps
			.takeEnded()
			.filter(({ attempted }) => attempted !== "again" && attempted.error === undefined)
			.map((each) => this.#ended(each));
		if (facts.length > 0) await commitEnded(this.#run, facts, false);
	}

	async #commit(facts: readonly Fact[]): Promise<void> {
		await commit(this.#run, facts);
	}
}

const longestTimer = 2 ** 31 - 1;
const nothing: ReadonlySet<string> = new Set();

/** Returns the input with which the code begins again. */
function inputOf({ input }: NewCall<FlowCall>): string {
	return (input as ContinueCall).input;
}
