// Answers in the inbox of a session whose run another worker works on. They go through policy before they are stored.
import { HoldfastError } from "@holdfast/upp";
import type { Fact, SessionState, ToolAnswer } from "../facts/index.ts";
import type { Input, StoredInput } from "../host/index.ts";
import type { Admits } from "./waiting-input.ts";

/** The stored form. */
interface Body {
	readonly answers: readonly ToolAnswer[];
}

/** The input that keeps answers for a run. Throws what policy refuses them with. */
export function answersInput(
	agent: Admits,
	{ id, runId }: { readonly id: string; readonly runId: string },
	answers: readonly ToolAnswer[],
): Input {
	const body: Body = { answers: answers.map((answer) => waitingAnswer(agent, answer)) };
	return { id, kind: "tool-result", runId, body };
}

/** The answers for a run, those that were accepted first before the others. */
export function storedAnswers(
	inbox: readonly StoredInput[],
	runId: string | undefined,
): readonly StoredInput[] {
	return inbox.filter((input) => input.kind === "tool-result" && input.runId === runId);
}

export function readAnswers({ body }: Pick<StoredInput, "body">): readonly ToolAnswer[] {
	return (body as Body).answers;
}

/**
 * Those of the answers that are not in the inbox yet.
 * @throws HoldfastError `tool_call_settled` when the inbox has another answer to one of these calls.
 */
export function newAnswers(
	inbox: readonly StoredInput[],
	{ run }: SessionState,
	answers: readonly ToolAnswer[],
): readonly ToolAnswer[] {
	const known = new Map(
		storedAnswers(inbox, run?.runId).flatMap((input) =>
			readAnswers(input).map((each) => [each.toolCallId, each] as const),
		),
	);
	return answers.filter((answer) => {
		const before = known.get(answer.toolCallId);
		if (before === undefined) return true;
		if (isSameAnswer(before, answer)) return false;
		throw callSettled(answer.toolCallId, "which the run takes next");
	});
}

/** The error for an answer that came second. */
export function callSettled(toolCallId: string, which: string): HoldfastError {
	return new HoldfastError(
		"tool_call_settled",
		`The answer for the call ${JSON.stringify(toolCallId)} was refused: it has another answer already, ${which}.`,
		{ data: { toolCallId } },
	);
}

/** Whether they decide the same; who decided, and why, may differ. */
export function isSameAnswer(one: ToolAnswer, other: ToolAnswer): boolean {
	const decided = (answer: ToolAnswer): string =>
		JSON.stringify(
			"approved" in answer
				? [answer.approved, answer.approved ? (answer.input ?? null) : null]
				: ["result", answer.output ?? null, answer.isError === true],
		);
	return decided(one) === decided(other);
}

/** Secrets that policy masks in an answer are never stored: it passes policy as the fact that it will become. */
export function waitingAnswer(
	{ admitWaiting }: Pick<Admits, "admitWaiting">,
	answer: ToolAnswer,
): ToolAnswer {
	if (admitWaiting === undefined) return answer;
	const { toolCallId, runId } = answer;
	const run = runId === undefined ? {} : { runId };
	if ("approved" in answer) {
		const { toolCallId: callId, runId: _, ...said } = answer;
		const fact: Fact = { kind: "decision", step: 0, topic: "approval", answer: { callId, ...said } };
		const { callId: __, ...admitted } = admitWaiting(fact).answer as typeof said & { callId: string };
		return { toolCallId, ...run, ...admitted };
	}
	const { output, isError, details } = answer;
	const fact: Extract<Fact, { kind: "tool.settled" }> = {
		kind: "tool.settled",
		step: 0,
		callId: toolCallId,
		outcome: isError === true ? "error" : "done",
		result: output,
		duration: 0,
		...(details === undefined ? {} : { details }),
	};
	const admitted = admitWaiting(fact);
	return {
		toolCallId,
		...run,
		output: admitted.result,
		...(isError === undefined ? {} : { isError }),
		...(admitted.details === undefined ? {} : { details: admitted.details }),
	};
}
