// Answers in the inbox of a session whose run another worker drives. They pass policy before they are stored. And whether
// an inbox has something for which a waiting run continues.
import { HoldfastError } from "@holdfast/upp";
import type { Fact, RunState, SessionState, ToolAnswer } from "../facts/index.ts";
import type { Input, StoredInput } from "../host/index.ts";
import { storedMessage } from "./mailbox.ts";
import type { Admits } from "./waiting-input.ts";

/** The stored form. */
interface Body {
	readonly answers: readonly ToolAnswer[];
}

/** Creates the input that stores answers for a run. Throws policy's refusal. */
export function answersInput(
	agent: Admits,
	{ id, runId }: { readonly id: string; readonly runId: string },
	answers: readonly ToolAnswer[],
): Input {
	const body: Body = { answers: answers.map((answer) => waitingAnswer(agent, answer)) };
	return { id, kind: "tool-result", runId, body };
}

/** Returns the stored answers for a run, in the order in which they were accepted. */
export function storedAnswers(
	inbox: readonly StoredInput[],
	runId: string | undefined,
): readonly StoredInput[] {
	return inbox.filter((input) => input.kind === "tool-result" && input.runId === runId);
}

/** Whether the inbox has something for which the waiting run continues: answers, or an input that ends its wait. */
export function hasArrived({ engine }: Admits, run: RunState, inbox: readonly StoredInput[]): boolean {
	if (storedAnswers(inbox, run.runId).length > 0) return true;
	if (run.wait === undefined) return false;
	const { events } = engine.decider;
	return inbox.some((input) => {
		if (input.kind === "steer") return input.runId === run.runId;
		return input.kind === "notice" && events?.isEvent(storedMessage(input).message.text) === true;
	});
}

export function readAnswers({ body }: Pick<StoredInput, "body">): readonly ToolAnswer[] {
	return (body as Body).answers;
}

/**
 * Returns the answers that are not in the inbox yet.
 * @throws HoldfastError `tool_call_settled` if the inbox has a different answer to one of these calls.
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

/** Creates the error for a second answer to the same call. */
export function callSettled(toolCallId: string, which: string): HoldfastError {
	return new HoldfastError(
		"tool_call_settled",
		`The answer for the call ${JSON.stringify(toolCallId)} was refused: it already has another answer, ${which}.`,
		{ data: { toolCallId } },
	);
}

/** Whether two answers make the same decision. The deciders and their reasons may differ. */
export function isSameAnswer(one: ToolAnswer, other: ToolAnswer): boolean {
	const decided = (answer: ToolAnswer): string =>
		JSON.stringify(
			"approved" in answer
				? [answer.approved, answer.approved ? (answer.input ?? null) : null]
				: ["result", answer.output ?? null, answer.isError === true],
		);
	return decided(one) === decided(other);
}

/**
 * Returns the answer as it may be stored. It passes policy as the fact that it will become, so secrets that policy masks
 * are never stored.
 */
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
