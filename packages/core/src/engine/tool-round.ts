// The tool calls of one answer: checked, started in order or side by side, settled as they finish (keeps I3, I8).
// One round is one step's calls; after a crash the same round continues with what the journal holds of it.

import { after, guarded, type Tool, type ToolCall } from "@holdfast/upp";
import type { CallState, Fact, Mutable, ToolCallOutcome, ToolSettled, ToolStarted } from "../facts/index.ts";
import type { MaybePromise } from "../host/index.ts";
import {
	type EngineTool,
	orderRound,
	plainOutcome,
	runTool,
	stackOf,
	type ToolOutcome,
	withinItsTime,
} from "../tools/index.ts";
import type { ToolsAction } from "./action.ts";
import { type AdmittedResult, type Attached, admitResult, attach, outcomeOf } from "./admit-result.ts";
import { CallContext } from "./call-context.ts";
import { type CallInRound, callInRound } from "./call-in-round.ts";
import { withinCall } from "./call-scope.ts";
import { checkWaiting, recoverCall } from "./check-again.ts";
import { type CheckedCall, checkCall, failedCall, HookFailed } from "./check-call.ts";
import { commit } from "./end-run.ts";
import { type LeftOver, leftOver, pendingBefore, RoundEnd, settingOf } from "./round-end.ts";
import type { Run } from "./run.ts";
import { ChildWaits } from "./stopped.ts";

const nothingLeft: LeftOver = { calls: [] };

export class ToolRound {
	readonly #run: Run;
	readonly #step: number;
	/** What follows from the result of the one call: it shares the append. */
	readonly #concludes: ToolsAction["concludes"] | undefined;
	readonly #calls: CallInRound[];
	readonly #cyclic: ReadonlyMap<string, string>;
	#left: number;
	#closed = false;
	/** Calls whose functions are started next, while some are being started. */
	#starting: CallInRound[] | undefined;
	readonly #end = new RoundEnd();

	/** `name` is the round's own within the run, and the same after a crash. */
	constructor(
		run: Run,
		step: number,
		name: string,
		calls: readonly CallState[],
		concludes?: ToolsAction["concludes"] | undefined,
	) {
		this.#concludes = concludes;
		this.#run = run;
		this.#step = step;
		const order = orderRound(
			calls.map((each) => each.call),
			run.agent.tools,
		);
		this.#calls = calls.map((call, index) => callInRound(call, index, [run.runId, name], order.waitsFor));
		this.#cyclic = order.cyclic;
		this.#left = this.#calls.length;
		for (const { call, phase } of this.#calls) {
			if (phase !== "settled") continue;
			this.#left--;
			for (const { waitsFor } of this.#calls) waitsFor.delete(call.toolCallId);
		}
	}

	/**
	 * What is left for others to settle, once every other call has its result; a promise until then. Throws or rejects when a
	 * commit or hook failed.
	 */
	finished(): MaybePromise<LeftOver> {
		return this.#end.get();
	}

	/** Starts what may start. What asks for the calls, and what goes before it, is committed with them, where it is not yet. */
	begin(asked: readonly Fact[]): MaybePromise<void> {
		const facts: Fact[] = [...asked];
		const ready = this.#calls.filter((each) => each.phase === "waiting" && each.waitsFor.size === 0);
		const pending: [CallInRound, Promise<CheckedCall>][] = [];
		const launches: CallInRound[] = [];
		for (const each of ready) {
			const prepared = this.#prepare(each);
			if (prepared instanceof Promise) {
				prepared.catch(() => {}); // followed after the commit; a failure until then must not count as unhandled
				pending.push([each, prepared]);
			} else this.#decide(each, prepared, facts, launches);
		}
		const begun = (): void => {
			this.#launch(launches);
			for (const [each, prepared] of pending) this.#follow(each, prepared);
			this.#checkDone();
		};
		return after(facts.length > 0 ? this.#run.commit(facts) : true, begun);
	}

	/** Gives every call without a result this one: the run was asked to stop. Late outcomes are ignored. */
	close(outcome: ToolCallOutcome, result: string): Fact[] {
		this.#closed = true;
		this.#run.traces.cut(result);
		const facts: Fact[] = this.#traceNotes();
		for (const each of this.#calls) {
			if (each.phase === "settled") continue;
			each.phase = "settled";
			each.context?.close();
			const { came } = each;
			facts.push(
				came === undefined
					? this.#settledFact(each, outcome, result, undefined)
					: this.#settledFact(each, outcomeOf(came), came.output, came),
			);
		}
		return facts;
	}

	/** Ends the sub-agents that wait, before the run ends for which they work. */
	async endChildren(): Promise<void> {
		const waiting = this.#calls.filter(({ phase, child }) => phase === "pending" && child !== undefined);
		await Promise.allSettled(waiting.map(({ child }) => child?.end()));
	}

	/** Ignores whatever still comes; the calls stay open in the journal. */
	abandon(): void {
		this.#closed = true;
		for (const each of this.#calls) each.context?.close();
	}

	#prepare(each: CallInRound): CheckedCall | Promise<CheckedCall> {
		each.phase = "preparing";
		const { call } = each;
		const cycle = this.#cyclic.get(call.toolCallId);
		if (cycle !== undefined) return failedCall(cycle);
		const tool = this.#run.agent.tools.get(call.toolName);
		if (tool !== undefined) each.tool = tool;
		const { started } = each;
		const { interceptors, state } = this.#run;
		const setting = settingOf(this.#run);
		const pending = pendingBefore(this.#run, call);
		const waited = state.run?.children?.some(({ callId }) => callId === call.toolCallId) === true;
		const checked =
			started !== undefined
				? recoverCall(setting, call, started, waited ? "waited" : { pending, approval: each.approval })
				: pending !== undefined
					? checkWaiting(setting, call, pending, each.approval)
					: checkCall(setting, call);
		if (interceptors.toolResult === undefined) return checked;
		return after(checked, (found) => this.#admitSettled(call, found));
	}

	/** A result that no tool gave is replaced like any other. A call that starts does so in the append that asks for it. */
	#admitSettled(call: ToolCall, checked: CheckedCall): MaybePromise<CheckedCall> {
		if (checked.kind !== "settled") return checked;
		const admitted = admitResult(this.#run, call, call.arguments, checked.outcome, checked.result);
		return after(admitted, (found) => ({ ...checked, ...found }));
	}

	// Recording and starting.

	/** Turns what was found into a fact: the call starts, or it has its result. */
	#decide(each: CallInRound, prepared: CheckedCall, facts: Fact[], launches: CallInRound[]): void {
		if (prepared.kind === "pending") {
			each.phase = "pending";
			each.pending = prepared;
			return;
		}
		if (prepared.approved !== undefined) each.approved = prepared.approved;
		if (prepared.kind === "settled") {
			each.phase = "settled";
			facts.push(this.#settledFact(each, prepared.outcome, prepared.result, undefined));
			this.#settledOne(each, facts, launches);
			return;
		}
		each.phase = "running";
		each.input = prepared.input;
		const started: Mutable<ToolStarted> = {
			kind: "tool.started",
			step: this.#step,
			callId: each.call.toolCallId,
			name: each.call.toolName,
			attempt: each.attempt,
			idempotencyKey: each.idempotencyKey,
		};
		if (prepared.input !== each.call.arguments) started.input = prepared.input;
		facts.push(started);
		launches.push(each);
	}

	/** One more call has its result: whatever waited for it alone may be prepared. */
	#settledOne(settled: CallInRound, facts: Fact[], launches: CallInRound[]): void {
		this.#left--;
		if (this.#run.stopReason !== undefined) return; // nothing starts any more
		for (const each of this.#calls) {
			if (
				!each.waitsFor.delete(settled.call.toolCallId) ||
				each.waitsFor.size > 0 ||
				each.phase !== "waiting"
			)
				continue;
			const prepared = this.#prepare(each);
			if (prepared instanceof Promise) this.#follow(each, prepared);
			else this.#decide(each, prepared, facts, launches);
		}
	}

	/** A call whose checking takes time joins the others when it is through. */
	#follow(each: CallInRound, prepared: Promise<CheckedCall>): void {
		prepared
			.then(async (found) => {
				if (this.#closed || this.#run.stopReason !== undefined) return;
				const facts: Fact[] = [];
				const launches: CallInRound[] = [];
				this.#decide(each, found, facts, launches);
				if (facts.length > 0) await commit(this.#run, facts);
				this.#launch(launches);
				this.#checkDone();
			})
			.catch((error) => this.#end.failed(error instanceof HookFailed ? error.cause : error));
	}

	/** Starts the functions of calls whose start is on record and was emitted. */
	#launch(launches: readonly CallInRound[]): void {
		if (launches.length === 0) return;
		const heard = this.#run.ready("heard");
		if (heard === undefined) this.#startFunctions(launches);
		else heard.then(() => this.#startFunctions(launches)).catch((error) => this.#end.failed(error));
	}

	/** A call that settles at once may let others start: they do after it, and not inside it. */
	#startFunctions(launches: readonly CallInRound[]): void {
		if (this.#starting !== undefined) {
			this.#starting.push(...launches);
			return;
		}
		const starting = [...launches];
		this.#starting = starting;
		try {
			this.#run.checkLease();
			for (const each of starting) {
				if (this.#closed || this.#run.stopReason !== undefined) return;
				this.#startFunction(each);
			}
		} finally {
			this.#starting = undefined;
		}
	}

	#startFunction(each: CallInRound): void {
		const tool = each.tool as EngineTool;
		each.startedAt = this.#run.agent.ports.clock.monotonic();
		const expiring = tool.timeoutMs === undefined ? undefined : new AbortController();
		const context = new CallContext(this.#run, this.#step, tool, each, expiring?.signal);
		each.context = context;
		const working = withinCall(this.#run.processKey, () => runTool(tool, each.input, context, context.emit));
		const { signal, agent } = this.#run;
		const ran =
			expiring === undefined
				? working
				: withinItsTime(tool, working, agent.ports.timers, {
						stopped: signal,
						expire: (reason) => expiring.abort(reason),
					});
		void after(ran, (outcome) => this.#finish(each, tool, outcome));
	}

	#finish(each: CallInRound, tool: EngineTool, outcome: ToolOutcome): void {
		if (this.#closed) return;
		each.context?.close();
		if (outcome.error instanceof ChildWaits) {
			each.phase = "pending";
			each.child = outcome.error;
			this.#checkDone();
			return;
		}
		const hook = this.#run.agent.toolStrategy[outcome.isError ? "onError" : "onAfterCall"];
		// A raw outcome that may be replaced is not kept, whatever becomes of the run meanwhile.
		if (hook !== undefined && this.#run.interceptors.toolResult === undefined) each.came = outcome;
		const failed = (error: unknown): void =>
			this.#end.failed(error instanceof HookFailed ? error.cause : error);
		// A store that answers at once throws at once.
		void guarded(() => {
			if (outcome.error !== undefined) each.stack = stackOf(outcome.error);
			return hook === undefined
				? this.#admitAndRecord(each, outcomeOf(outcome), outcome.output, outcome)
				: this.#afterCall(each, tool, outcome);
		}, failed);
	}

	#admitAndRecord(
		each: CallInRound,
		status: ToolCallOutcome,
		output: unknown,
		attached: Attached,
	): MaybePromise<void> {
		const record = ({ outcome, result }: AdmittedResult): MaybePromise<void> => {
			if (!this.#closed) return this.#record(each, outcome, result, result === output ? attached : {});
		};
		const admitted = admitResult(this.#run, each.call, each.input, status, output);
		return after(admitted, record);
	}

	async #afterCall(each: CallInRound, tool: EngineTool, outcome: ToolOutcome): Promise<void> {
		const { toolStrategy: strategy } = this.#run.agent;
		const source = tool.source as Tool;
		const ask = <T>(hook: () => T): T => withinCall(this.#run.processKey, hook);
		let { output: result } = outcome;
		let came = outcomeOf(outcome);
		let attached: Attached = outcome;
		if (outcome.isError) {
			const error = outcome.error instanceof Error ? outcome.error : new Error(String(outcome.output));
			await ask(() => strategy.onError?.(source, each.input, error));
		} else {
			const replaced = await ask(() => strategy.onAfterCall?.(source, each.input, outcome.output));
			if (replaced !== undefined) {
				const plain = plainOutcome(replaced);
				result = plain.output;
				came = outcomeOf(plain);
				attached = { details: outcome.details };
			}
		}
		await this.#admitAndRecord(each, came, result, attached);
	}

	#record(
		each: CallInRound,
		outcome: ToolCallOutcome,
		result: unknown,
		attached: Attached,
	): MaybePromise<void> {
		// A tool that gave up because the run was suspended did not fail: it is left open, to be run again.
		if (outcome === "error" && this.#run.stopReason !== undefined && this.#run.stopReason !== "interrupt")
			return;
		each.phase = "settled";
		const facts = this.#traceNotes();
		facts.push(this.#settledFact(each, outcome, result, attached));
		const launches: CallInRound[] = [];
		this.#settledOne(each, facts, launches);
		const committed = this.#concludes === undefined ? this.#run.commit(facts) : this.#concluded(facts);
		return after(committed, () => {
			this.#launch(launches);
			this.#checkDone();
		});
	}

	/** Commits a result, the last of these facts, together with what follows from it as it was admitted. */
	#concluded(facts: readonly Fact[]): MaybePromise<boolean> {
		const given = facts.at(-1) as ToolSettled;
		const commitWith = (settled: ToolSettled): MaybePromise<boolean> => {
			const { topic, answer } = this.#concludes?.(settled) ?? {};
			const all: Fact[] = [...facts.slice(0, -1), settled];
			if (topic !== undefined) all.push({ kind: "decision", step: this.#step, topic, answer });
			return this.#run.commit(all);
		};
		const prepared = this.#run.admission?.prepare(given) ?? given;
		return after(prepared, commitWith);
	}

	/** What sub-agents did since the last time. */
	#traceNotes(): Fact[] {
		const step = this.#step;
		const traces = this.#run.takeTraces();
		if (traces.length === 0) return [];
		return traces.map((value) => ({ kind: "note", step, topic: "subagent-trace", value }));
	}

	#settledFact(
		each: CallInRound,
		outcome: ToolCallOutcome,
		result: unknown,
		attached?: Attached,
	): ToolSettled {
		const settled: Mutable<ToolSettled> = {
			kind: "tool.settled",
			step: this.#step,
			callId: each.call.toolCallId,
			outcome,
			result,
			duration: each.startedAt === 0 ? 0 : this.#run.agent.ports.clock.monotonic() - each.startedAt,
		};
		attach(settled, attached);
		if (outcome === "error" && each.stack !== undefined) settled.stack = each.stack;
		if (each.approved !== undefined) settled.approved = each.approved;
		const spent = each.context?.spent;
		if (spent !== undefined) settled.spent = spent;
		return settled;
	}

	#checkDone(): void {
		if (this.#closed || this.#run.state.run?.unsettled !== this.#left) return;
		if (this.#left === 0) this.#end.done(nothingLeft);
		else if (!this.#calls.some(({ phase }) => phase === "preparing" || phase === "running"))
			this.#end.done(leftOver(this.#run, this.#calls));
	}
}
