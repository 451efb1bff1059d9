// Creates and recognises the facts of one call.
import { after, guarded, HoldfastError, messageOf, type ToolCall } from "@holdfast/upp";
import type { Fact, Mutable, ToolSettled, ToolStarted } from "../facts/index.ts";
import type { MaybePromise } from "../host/index.ts";
import type { ToolsAction } from "./action.ts";
import { type AdmittedResult, type Attached, attach } from "./admit-result.ts";
import type { CallInRound } from "./call-in-round.ts";
import type { Run } from "./run.ts";
import { isTooLarge } from "./unwritable.ts";

/** Creates the fact that a call starts with this input. */
export function startedFact(
	step: number,
	{ call, attempt, idempotencyKey, input }: CallInRound,
): ToolStarted {
	const started: Mutable<ToolStarted> = {
		kind: "tool.started",
		step,
		callId: call.toolCallId,
		name: call.toolName,
		attempt,
		idempotencyKey,
	};
	if (input !== call.arguments) started.input = input;
	return started;
}

/** Creates the fact of a call's result. */
export function settledFact(
	run: Run,
	step: number,
	each: CallInRound,
	{ outcome, result }: AdmittedResult,
	attached: Attached | undefined,
): ToolSettled {
	const settled: Mutable<ToolSettled> = {
		kind: "tool.settled",
		step,
		callId: each.call.toolCallId,
		outcome,
		result,
		duration: each.startedAt === 0 ? 0 : run.agent.ports.clock.monotonic() - each.startedAt,
	};
	attach(settled, attached);
	if (outcome === "error" && each.stack !== undefined) settled.stack = each.stack;
	if (each.approved !== undefined) settled.approved = each.approved;
	const spent = each.context?.spent;
	if (spent !== undefined) settled.spent = spent;
	const loads = outcome === "done" ? each.context?.loads : undefined;
	if (loads !== undefined) settled.loads = loads;
	const streamed = each.context?.streamed ?? 0;
	if (streamed > 0 && run.keepsDeltas) settled.streamed = streamed;
	return settled;
}

/** Creates the reason for cancelling a call to a sub-agent. */
export function subagentCancelled({ toolName }: ToolCall): HoldfastError {
	return new HoldfastError("subagent_cancelled", `The call of ${toolName} was cancelled.`);
}

/** Returns the traces that sub-agents have left since the last call to this function. */
export function traceNotes(run: Run, step: number): Fact[] {
	const traces = run.takeTraces();
	if (traces.length === 0) return [];
	return traces.map((value) => ({ kind: "note", step, topic: "subagent-trace", value }));
}

/** Commits these facts together with the decision that follows from the admitted result. The last fact is the result. */
function commitConcluded(
	run: Run,
	step: number,
	facts: readonly Fact[],
	concludes: NonNullable<ToolsAction["concludes"]>,
): MaybePromise<boolean> {
	const given = facts.at(-1) as ToolSettled;
	const commitWith = (settled: ToolSettled): MaybePromise<boolean> => {
		const { topic, answer } = concludes(settled) ?? {};
		const all: Fact[] = [...facts.slice(0, -1), settled];
		if (topic !== undefined) all.push({ kind: "decision", step, topic, answer });
		return run.commit(all);
	};
	const prepared = run.admission?.prepare(given) ?? given;
	return after(prepared, commitWith);
}

/** Commits the result of a call together with other facts. A result for code is replaced if it is too large. */
export function commitSettled(
	run: Run,
	facts: readonly Fact[],
	settled: ToolSettled,
	concludes: ToolsAction["concludes"] | "code",
): MaybePromise<boolean> {
	if (concludes === undefined) return run.commit(facts);
	if (concludes !== "code") return commitConcluded(run, settled.step, facts, concludes);
	const refused = (error: unknown): MaybePromise<boolean> => {
		if (!isTooLarge(error)) throw error;
		const result = `The call ended, and its result is too large for the store: ${messageOf(error)} Write large data to a file, and return where it is.`;
		const { stack: _, details: __, metadata: ___, ...rest } = settled;
		const smaller: ToolSettled = { ...rest, outcome: "error", result };
		return run.commit(facts.map((fact) => (fact === settled ? smaller : fact)));
	};
	return guarded(() => run.commit(facts), refused);
}

/** Returns the id of the call that an outside fact settles or decides; undefined for other facts. */
export function callOfFact(fact: Fact): string | undefined {
	if (fact.kind === "tool.settled") return fact.callId;
	if (fact.kind !== "decision" || fact.topic !== "approval") return undefined;
	return (fact.answer as { readonly callId: string }).callId;
}
