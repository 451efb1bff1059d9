// Outside answers to the calls a run waits for: validated together, then converted to facts (keeps I4). Pure:
// `answerFacts` reads the folded run and returns the facts, or throws the reason for refusal.
import { cutText, HoldfastError, messageOf } from "@holdfast/upp";
import { type Caller, readCaller } from "../caller/index.ts";
import { AgentState, callIdsOf } from "../state/index.ts";
import { plainJson } from "../tools/index.ts";
import type { CallPathStep, Fact, PendingCall, ToolCallOutcome, WaitingChild } from "./fact.ts";
import { earliestDue, nestedCalls } from "./nested-waits.ts";
import { type CallState, type RunState, shownCall } from "./run-state.ts";
import type { SessionState } from "./session-state.ts";

/** The result of a remote call, or the decision on whether a call may run. */
export type ToolAnswer = {
	readonly toolCallId: string;
	/** The run that the answer is for. It is refused if a different run waits. Default: whichever run waits. */
	readonly runId?: string;
} & (
	| {
			/** Text or JSON, for the model. */
			readonly output: unknown;
			/** Whether the tool failed. Default false. */
			readonly isError?: boolean;
			/** JSON for watchers; the model does not see it. */
			readonly details?: unknown;
	  }
	| {
			readonly approved: boolean;
			/** The reason for the decision. The model sees it if the call was denied. */
			readonly reason?: string;
			/**
			 * The basis of the decision as JSON, such as the version that was reviewed. It is recorded with the decision
			 * and available to the tool in `context.approval`, so the tool can refuse to act on anything else. The model
			 * does not see it.
			 */
			readonly basis?: unknown;
			/**
			 * The person or program that made the decision, if known. It is recorded with the decision, and available in
			 * the tool's `context.approval`.
			 */
			readonly by?: Caller;
			/**
			 * Replaces the original input. Only with `approved: true`, for a call with `mayEdit`. Recorded with the
			 * decision. Default: the original input.
			 */
			readonly input?: Readonly<Record<string, unknown>>;
	  }
);

/** A call that needs an outside answer, as callers see it. */
export interface PendingToolCall {
	/** The run that waits for the answer. */
	readonly runId: string;
	/** The id of the call. An answer names it. */
	readonly toolCallId: string;
	/** The name of the tool. */
	readonly toolName: string;
	/** The tool's input: the model's arguments after hooks and the schema's defaults. */
	readonly arguments: Readonly<Record<string, unknown>>;
	/** `result`: a result of a remote tool. `approval`: a decision on whether the call may run. */
	readonly awaits: PendingCall["awaits"];
	/** The time in milliseconds since the epoch after which the call fails. */
	readonly deadline?: number;
	/**
	 * For a sub-agent's call: the delegations that lead to it. Answer it here, using its `toolCallId`, which is unique in
	 * this session; Holdfast routes the answer to the sub-agent.
	 */
	readonly path?: readonly CallPathStep[];
	/** Set if an approval may change the input: `{ approved: true, input }`. */
	readonly mayEdit?: true;
	/** For a call of a background task: the id of the task. The session does not wait for it. */
	readonly taskId?: string;
}

/** Whether answers are accepted: the run waits, or announces calls that wait while others run. */
export function takesAnswers({ run }: SessionState): boolean {
	return run?.status === "waiting" || (run?.status === "running" && showsCalls(run));
}

function showsCalls(run: RunState): boolean {
	const isShown = run.shows === "pending" && run.parked === undefined;
	return isShown && (nestedCalls(run.children).length > 0 || openCalls(run).length > 0);
}

/** Returns the calls that wait for outside answers; while others run, only those that the run has announced. */
export function pendingCalls(state: SessionState): readonly PendingToolCall[] {
	const { run } = state;
	if (run === undefined || !takesAnswers(state)) return [];
	const { runId } = run;
	const own = openCalls(run).map(({ call, pending }) => {
		const { toolCallId, toolName, arguments: input } = shownCall(call.call, pending);
		return { runId, toolCallId, toolName, arguments: input, awaits: pending.awaits, ...optional(pending) };
	});
	const nested = nestedCalls(run.children).map(({ call }) => {
		const { id: toolCallId, toolName, arguments: input, awaits, path } = call;
		return { runId, toolCallId, toolName, arguments: input, awaits, ...optional(call), path };
	});
	return nested.length === 0 ? own : [...own, ...nested];
}

function optional({ deadline, mayEdit }: PendingCall): Pick<PendingToolCall, "deadline" | "mayEdit"> {
	return {
		...(deadline === undefined ? {} : { deadline }),
		...(mayEdit === undefined ? {} : { mayEdit }),
	};
}

/**
 * Returns the facts of these answers; none if they only repeat known ones.
 * @throws HoldfastError `duplicate_tool_result`, `unknown_tool_call_id`, `tool_call_settled`, `tool_result_conflict`,
 * `tool_result_expired`, `invalid_input`, `invalid_caller`: in that case none of them is accepted.
 */
export function answerFacts(
	state: SessionState,
	answers: readonly ToolAnswer[],
	now: number,
): readonly Fact[] {
	const run = state.run as RunState;
	if (answers.length === 0) throw new HoldfastError("invalid_input", "The list of answers is empty.");
	const seen = new Set<string>();
	const facts: Fact[] = [];
	for (const answer of answers) {
		checkAnswer(answer);
		const { toolCallId } = answer;
		if (seen.has(toolCallId)) {
			throw new HoldfastError(
				"duplicate_tool_result",
				...refusal(
					toolCallId,
					"it is answered twice in one batch. Send one answer per call; no answer of the batch was accepted",
				),
			);
		}
		seen.add(toolCallId);
		facts.push(...factsOf(state, run, answer, now));
	}
	return facts;
}

/** Returns the facts due at `now`: expired calls, and the end of the strategy's wait. */
export function dueFacts(run: RunState, now: number): readonly Fact[] {
	const { tag = "", until = Number.POSITIVE_INFINITY } = run.wait ?? {};
	if (until <= now) return [{ kind: "wait.ended", step: run.step, tag, until }];
	return openCalls(run)
		.filter(({ pending: { deadline } }) => deadline !== undefined && deadline <= now)
		.map(({ call, pending: { since, deadline = now } }) => {
			const { toolName } = call.call;
			const result = `No result of "${toolName}" arrived within ${deadline - since} ms.`;
			return settled(run, call, "expired", result);
		});
}

/** Returns the facts of a run that is stopped while it waits: every call gets a result that reports this. */
export function stoppedFacts(run: RunState): readonly Fact[] {
	const waits = ({ status }: WaitingChild): boolean => status === undefined;
	const ofChildren = new Set(run.children?.filter(waits).map(({ callId }) => callId));
	return [...run.calls]
		.filter((call) => call.settled === undefined)
		.map((call) =>
			call.started === undefined || call.neverRan === true || ofChildren.has(call.call.toolCallId)
				? settled(run, call, "cancelled", "The call was cancelled: the run was stopped.")
				: settled(run, call, "unknown", `The run was stopped. ${mayHaveRun}`),
		);
}

/** Returns the earliest time at which a call expires or the wait ends. Undefined if there is no time limit. */
export function nextDeadline(run: RunState): number | undefined {
	const { children, wait } = run;
	return earliestDue({ calls: openCalls(run).map(({ pending }) => pending), children, wait });
}

const membersOfApproval = ["toolCallId", "runId", "approved", "reason", "basis", "by", "input"];
const membersOfResult = ["toolCallId", "runId", "output", "isError", "details"];

/** @throws HoldfastError `invalid_input` for anything but a list of objects with a `toolCallId`. */
export function checkAnswerList(answers: unknown): void {
	if (!Array.isArray(answers))
		throw new HoldfastError(
			"invalid_input",
			"answer() takes a list of answers, such as `[{ toolCallId, output }]` or `[{ toolCallId, approved: true }]`.",
		);
	for (const answer of answers) callIdOf(answer);
}

function callIdOf(answer: unknown): string {
	const toolCallId = (answer as { readonly toolCallId?: unknown } | null | undefined)?.toolCallId;
	if (typeof toolCallId === "string") return toolCallId;
	throw new HoldfastError("invalid_input", "An answer must be an object with the `toolCallId` of its call.");
}

/** Only a boolean decides. Any other value is refused, never interpreted as yes or no. */
function checkAnswer(answer: ToolAnswer): void {
	const toolCallId = callIdOf(answer);
	const members: readonly string[] = "approved" in answer ? membersOfApproval : membersOfResult;
	const unknown = Object.keys(answer).find((name) => !members.includes(name));
	if (unknown !== undefined)
		throw new HoldfastError(
			"invalid_input",
			...refusal(
				toolCallId,
				`it has no member ${JSON.stringify(cutText(unknown, 50))}; its members are ${members.join(", ")}`,
			),
		);
	const { approved, isError } = answer as { approved?: unknown; isError?: unknown };
	if ("approved" in answer && typeof approved !== "boolean")
		throw new HoldfastError("invalid_input", ...refusal(toolCallId, "`approved` must be true or false"));
	if (isError !== undefined && typeof isError !== "boolean")
		throw new HoldfastError("invalid_input", ...refusal(toolCallId, "`isError` must be true or false"));
	const { reason } = answer as { reason?: unknown };
	if (reason !== undefined && typeof reason !== "string")
		throw new HoldfastError("invalid_input", ...refusal(toolCallId, "`reason` must be a string"));
}

function factsOf(state: SessionState, run: RunState, answer: ToolAnswer, now: number): readonly Fact[] {
	const { toolCallId } = answer;
	const call = run.calls.withId(toolCallId);
	const pending = run.pending?.find(({ callId }) => callId === toolCallId);
	if (answer.runId !== undefined && answer.runId !== run.runId) {
		throw new HoldfastError(
			"unknown_tool_call_id",
			...refusal(toolCallId, "it is meant for a different run than the one that waits"),
		);
	}
	if (call?.settled !== undefined) return again(call, answer);
	if (call?.approval !== undefined && "approved" in answer && run.status === "running") {
		if (answer.approved && (answer.input === undefined || isSameJson(answer.input, call.approval.input)))
			return [];
		throw new HoldfastError("tool_call_settled", ...refusal(toolCallId, "it is already approved"));
	}
	if (call === undefined || pending === undefined) {
		if (call === undefined && callIdsOf(AgentState.partsOf(state.agent)).has(toolCallId)) {
			throw new HoldfastError(
				"tool_call_settled",
				...refusal(toolCallId, "it already has its result from an earlier round"),
			);
		}
		throw new HoldfastError(
			"unknown_tool_call_id",
			...refusal(toolCallId, "the run does not wait for a call with that id"),
		);
	}
	if (pending.deadline !== undefined && pending.deadline <= now) throw expired(toolCallId);
	if ("approved" in answer !== (pending.awaits === "approval")) {
		const wanted =
			pending.awaits === "approval" ? "approval: {toolCallId, approved}" : "a result: {toolCallId, output}";
		throw new HoldfastError("invalid_input", ...refusal(toolCallId, `it waits for ${wanted}`));
	}
	if (!("approved" in answer)) return [resultFact(run, call, answer)];
	const { approved, reason, basis, by, input } = answer;
	if (input !== undefined) checkEdit(answer, pending);
	const decided: Fact = {
		kind: "decision",
		step: run.step,
		topic: "approval",
		answer: {
			callId: toolCallId,
			approved,
			...(reason === undefined ? {} : { reason }),
			...(basis === undefined ? {} : { basis: plainAnswer(toolCallId, basis) }),
			...(by === undefined ? {} : { by: readCaller(by) }),
			...(input === undefined ? {} : { input: plainAnswer(toolCallId, input) }),
		},
	};
	if (approved) return [decided];
	const why = reason === undefined || reason === "" ? "." : `: ${reason}`;
	const denied =
		call.started === undefined || call.neverRan === true
			? settled(run, call, "skipped", `The call of "${call.call.toolName}" was not approved${why}`)
			: settled(
					run,
					call,
					"unknown",
					`Running the call of "${call.call.toolName}" again was not approved${why} ${mayHaveRun}`,
				);
	return [decided, { ...denied, approved: false }];
}

/** The text for a call that was running when its process died. */
const mayHaveRun = "It was started before its process died, and may or may not have had its effect.";

/** Only an approval may change an input, and only if the tool allows it. */
function checkEdit(
	{ toolCallId, approved, input }: Extract<ToolAnswer, { approved: boolean }>,
	{ mayEdit }: PendingCall,
): void {
	const why =
		approved !== true
			? "a call that is not approved has no `input`"
			: mayEdit !== true
				? "its tool does not let an approval change the input: set `editableApproval` on the tool"
				: typeof input !== "object" || input === null || Array.isArray(input)
					? "`input` must be an object"
					: undefined;
	if (why !== undefined) throw new HoldfastError("invalid_input", ...refusal(toolCallId, why));
}

/** The same answer may be sent again. */
function again({ call, settled: fact }: CallState, answer: ToolAnswer): readonly Fact[] {
	const { toolCallId } = call;
	if (fact?.outcome === "expired") throw expired(toolCallId);
	if ("approved" in answer) {
		if (!answer.approved && fact?.approved === false) return [];
		throw new HoldfastError("tool_call_settled", ...refusal(toolCallId, "it already has its result"));
	}
	const isSame =
		isSameJson(plainAnswer(toolCallId, answer.output), fact?.result) &&
		(answer.isError === true) === (fact?.outcome === "error");
	if (isSame) return [];
	throw new HoldfastError(
		"tool_result_conflict",
		...refusal(toolCallId, "it already has another result, which stays"),
	);
}

function isSameJson(one: unknown, other: unknown): boolean {
	return sortedJson(one) === sortedJson(other);
}

/** Returns JSON text that does not depend on the order of object members. */
function sortedJson(value: unknown): string | undefined {
	return JSON.stringify(value, (_, member: unknown) => {
		if (typeof member !== "object" || member === null || Array.isArray(member)) return member;
		return Object.fromEntries(Object.entries(member).sort(([one], [other]) => (one < other ? -1 : 1)));
	});
}

/** Creates the error for a late answer. */
export function expired(toolCallId: string): HoldfastError {
	return new HoldfastError(
		"tool_result_expired",
		...refusal(toolCallId, "its time limit expired, and the run continued without it"),
	);
}

/** Returns the reason for refusing an answer. */
function refusal(
	toolCallId: string,
	why: string,
): [message: string, options: { data: { toolCallId: string } }] {
	return [
		`The answer for the call ${JSON.stringify(toolCallId)} was refused: ${why}.`,
		{ data: { toolCallId } },
	];
}

function resultFact(
	run: RunState,
	call: CallState,
	{ toolCallId, output, isError, details }: Exclude<ToolAnswer, { approved: boolean }>,
): Fact {
	const fact = settled(run, call, isError === true ? "error" : "done", plainAnswer(toolCallId, output));
	return details === undefined ? fact : { ...fact, details: plainAnswer(toolCallId, details) };
}

/** Converts the answer to a form that a journal can hold. */
function plainAnswer(toolCallId: string, value: unknown): unknown {
	try {
		return plainJson(value);
	} catch (cause) {
		const why = messageOf(cause).split("\n", 1)[0];
		const [message, options] = refusal(toolCallId, `it cannot be written as JSON (${why})`);
		throw new HoldfastError("invalid_input", message, { ...options, cause });
	}
}

function settled(
	run: RunState,
	{ call }: CallState,
	outcome: ToolCallOutcome,
	result: unknown,
): Extract<Fact, { kind: "tool.settled" }> {
	return { kind: "tool.settled", step: run.step, callId: call.toolCallId, outcome, result, duration: 0 };
}

function openCalls(run: RunState): readonly { readonly call: CallState; readonly pending: PendingCall }[] {
	return (run.pending ?? []).flatMap((pending) => {
		const call = run.calls.withId(pending.callId);
		if (call === undefined || call.settled !== undefined) return [];
		// If approval is requested again, the call has no approval.
		return pending.awaits === "approval" && call.approval !== undefined ? [] : [{ call, pending }];
	});
}
