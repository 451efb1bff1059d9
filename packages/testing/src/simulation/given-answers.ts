// Accepted answers and their outcomes: each is recorded, unless another answer to the same call was recorded first.

import type { ToolAnswer } from "holdfast";
import type { Fact, StoredInput } from "holdfast/host";
import type { Ledger } from "./ledger.ts";

/** An answer accepted for a run of another process. */
export interface GivenAnswer {
	readonly runId: string;
	readonly answer: ToolAnswer;
	/** Whether it is for a call of a sub-agent. */
	readonly isNested: boolean;
	/** Answers to the same call given before this one was accepted. */
	readonly rivals: readonly ToolAnswer[];
}

/** Returns the id that a sub-agent's call has in its own session. */
function ownId({ toolCallId }: ToolAnswer): string {
	const own = toolCallId.split("/").at(-1) ?? "";
	return own.replaceAll("%2F", "/").replaceAll("%25", "%");
}

/** Whether the run ended without being completed: a kill drops the answers that wait for it. */
export function wasStopped(ledger: Ledger, id: string): boolean {
	const entries = ledger.lifeOfRun(id)?.entries ?? [];
	return entries.some(
		({ runId, fact }) => runId === id && fact.kind === "run.ended" && fact.outcome !== "completed",
	);
}

/** Whether the facts contain an accepted answer, or an earlier one to the same call. */
export function isDecided(ledger: Ledger, { runId, answer, isNested, rivals }: GivenAnswer): boolean {
	return [answer, ...rivals].some((each) => isOnRecord(ledger, runId, each, isNested));
}

function isOnRecord(ledger: Ledger, runId: string, answer: ToolAnswer, isNested: boolean): boolean {
	if (isNested) {
		const own = { ...answer, toolCallId: ownId(answer) };
		return ledger.allLives.some(({ entries }) => entries.some(({ fact }) => saysSame(fact, own)));
	}
	const entries = ledger.lifeOfRun(runId)?.entries ?? [];
	return entries.some((entry) => entry.runId === runId && saysSame(entry.fact, answer));
}

/**
 * Whether an input of an inbox contains the answer. The inbox of a sub-agent has it under the id that the call has there,
 * without the delegations above it.
 */
export function holds({ kind, body }: StoredInput, answer: ToolAnswer): boolean {
	if (kind !== "tool-result") return false;
	const parts = answer.toolCallId.split("/");
	const ids = new Set([...parts.map((_, at) => parts.slice(at).join("/")), ownId(answer)]);
	return (body as { readonly answers: readonly ToolAnswer[] }).answers.some(({ toolCallId }) =>
		ids.has(toolCallId),
	);
}

function saysSame(fact: Fact, answer: ToolAnswer): boolean {
	if ("output" in answer)
		return fact.kind === "tool.settled" && fact.callId === answer.toolCallId && fact.result === answer.output;
	if (fact.kind !== "decision" || fact.topic !== "approval") return false;
	const { callId, approved } = fact.answer as { readonly callId: string; readonly approved: boolean };
	return callId === answer.toolCallId && approved === answer.approved;
}
