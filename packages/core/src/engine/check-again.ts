// Checks calls again: calls that waited and were answered, and calls that were running when their process died. Neither
// kind passes the input hooks a second time: what was shown or started is what runs (keeps I3).
import { messageOf, type ToolCall } from "@holdfast/upp";
import { type Mutable, type PendingCall, type ToolStarted, textHash } from "../facts/index.ts";
import { type Approval, type EngineTool, plainJson } from "../tools/index.ts";
import { withinCall } from "./call-scope.ts";
import {
	type CallSetting,
	type CheckedCall,
	checkCall,
	failedCall,
	notApproved,
	permissionOf,
	validated,
} from "./check-call.ts";
import { toolOf } from "./tool-of.ts";

/** The result of a call whose process died during the call and that must not run again. */
const unknownOutcome =
	"The outcome of this call is unknown: the process died while it ran. It may or may not have had its effect. It was not run again; find out before you repeat it.";

/**
 * Returns a hash of everything that determines whether an input may run: the tool, its schema, and the policy that checks
 * calls.
 */
function basisOf({ agent, interceptors }: CallSetting, tool: EngineTool): string {
	const { name, kind, description, parameters, approval, needsApproval, editableApproval } = tool;
	const asks = [approval !== undefined, needsApproval !== undefined, editableApproval];
	const hooks = [agent.toolStrategy.onBeforeCall !== undefined, interceptors.toolCallBy ?? []];
	return textHash(JSON.stringify([name, kind, description, parameters, asks, hooks]));
}

/** Creates the recorded form of a waiting call. A repeated question keeps its deadline. */
export function pendingFact(
	setting: CallSetting,
	call: ToolCall,
	{ tool, awaits, input, given }: Extract<CheckedCall, { kind: "pending" }>,
	before: PendingCall | undefined,
	since: number,
): PendingCall {
	const basis = basisOf(setting, tool);
	if (before?.awaits === awaits && (before.basis ?? basis) === basis) return before;
	const waits: Mutable<PendingCall> = { callId: call.toolCallId, awaits, since, basis };
	const timeout = awaits === "result" ? (tool.timeoutMs ?? setting.agent.remoteToolTimeoutMs) : undefined;
	if (timeout !== undefined && timeout !== Number.POSITIVE_INFINITY) waits.deadline = since + timeout;
	if (input !== call.arguments) waits.input = plainJson(input);
	if (given !== call.arguments) waits.given = plainJson(given);
	if (awaits === "approval" && tool.editableApproval) waits.mayEdit = true;
	if (setting.interceptors.answersMayNotWait === true) waits.noInbox = true;
	return waits;
}

/**
 * Checks a waiting call when its run continues. If the tool, its schema or the policy has changed, the call is checked
 * from the beginning and requires approval again.
 */
export function checkWaiting(
	setting: CallSetting,
	call: ToolCall,
	pending: PendingCall,
	approval: Approval | undefined,
): CheckedCall | Promise<CheckedCall> {
	const tool = toolOf(setting.agent, call);
	// An earlier release recorded no input: it showed the model's arguments.
	const isSame = tool !== undefined && (pending.basis ?? basisOf(setting, tool)) === basisOf(setting, tool);
	if (!isSame) return checkCall(setting, call);
	const { input = call.arguments, given = call.arguments, awaits } = pending;
	if (awaits === "result" || approval === undefined) return { kind: "pending", tool, awaits, input, given };
	if (approval.input !== undefined) {
		const edited = approval.input;
		return validated(tool, edited, (checked) =>
			checked.ok ? permitted(setting, call, tool, checked.value, edited) : failedCall(checked.message),
		);
	}
	const isWhatWasShown = (value: unknown): boolean => pending.basis === undefined || isSameJson(value, input);
	return validated(tool, given, (checked) =>
		checked.ok
			? permitted(setting, call, tool, isWhatWasShown(checked.value) ? checked.value : input, given)
			: failedCall(checked.message),
	);
}

/** A person's approval does not replace the tool's own permission, which may have been withdrawn since. */
function permitted(
	setting: CallSetting,
	call: ToolCall,
	tool: EngineTool,
	input: unknown,
	given: unknown,
): CheckedCall | Promise<CheckedCall> {
	const passed: CheckedCall =
		tool.kind === "remote"
			? { kind: "pending", tool, awaits: "result", input, given }
			: { kind: "start", tool, input, approved: true };
	if (tool.approval === undefined) return passed;
	return withinCall(setting.processKey, async () =>
		(await permissionOf(setting, { call, tool }, input)) === "denied" ? notApproved(tool) : passed,
	);
}

/**
 * Continues a call that was started but never settled. If it waited for its sub-agent, it continues there. If a crash cut
 * it off, it follows its tool's retry policy, and runs again only if its input passes the current schema and the current
 * approval rules allow it.
 */
export function recoverCall(
	setting: CallSetting,
	call: ToolCall,
	started: ToolStarted,
	left: "waited" | Asked,
): CheckedCall | Promise<CheckedCall> {
	const tool = toolOf(setting.agent, call);
	const isUntouched = left !== "waited" && left.neverRan === true;
	if (tool === undefined || tool.kind === "remote") return isUntouched ? checkCall(setting, call) : unknown();
	const input = started.input ?? call.arguments;
	if (left === "waited") return { kind: "start", tool, input };
	const again = (): CheckedCall | Promise<CheckedCall> => runAgain(setting, call, tool, input, left);
	if (isUntouched || tool.retryPolicy !== "manual-recovery") return again();
	if (tool.reconcile === undefined) return unknown();
	const { reconcile } = tool;
	return withinCall(setting.processKey, () => reconciled(reconcile, started.idempotencyKey, input, again));
}

/** The question about a call, and its answer. */
interface Asked {
	readonly pending: PendingCall | undefined;
	readonly approval: Approval | undefined;
	/** Set if the call's function never ran: the call may run under any retry policy, and its outcome is known. */
	readonly neverRan?: true | undefined;
}

function runAgain(
	setting: CallSetting,
	call: ToolCall,
	tool: EngineTool,
	recorded: unknown,
	asked: Asked,
): CheckedCall | Promise<CheckedCall> {
	const permit = (input: unknown): CheckedCall | Promise<CheckedCall> =>
		permitAgain(setting, { call, tool, asked }, input);
	// The schema may convert the model's arguments to richer types than the recorded ones.
	return validated(tool, call.arguments, (first) => {
		if (first.ok && isSameJson(first.value, recorded)) return permit(first.value);
		return validated(tool, recorded, (second) =>
			second.ok ? permit(recorded) : notAgain(asked, `Its input is no longer valid: ${second.message}`),
		);
	});
}

/** An approval is valid only for the tool, the schema and the policy under which it was given. */
function isApproved(setting: CallSetting, tool: EngineTool, { pending, approval }: Asked): boolean {
	return approval !== undefined && (pending?.basis === undefined || pending.basis === basisOf(setting, tool));
}

function permitAgain(
	setting: CallSetting,
	{ call, tool, asked }: { readonly call: ToolCall; readonly tool: EngineTool; readonly asked: Asked },
	input: unknown,
): CheckedCall | Promise<CheckedCall> {
	const wasApproved = isApproved(setting, tool, asked);
	const start: CheckedCall = wasApproved
		? { kind: "start", tool, input, approved: true }
		: { kind: "start", tool, input };
	if (tool.approval === undefined && (tool.needsApproval === undefined || wasApproved)) return start;
	return withinCall(setting.processKey, async (): Promise<CheckedCall> => {
		const permission = await permissionOf(setting, { call, tool }, input);
		if (permission === "granted" || (permission === "asks" && wasApproved)) return start;
		if (permission === "denied") return notAgain(asked, "It is no longer permitted to run.");
		return setting.mayWait
			? { kind: "pending", tool, awaits: "approval", input, given: input }
			: notAgain(asked, "It requires approval, and no one can be asked here.");
	});
}

/** Returns the result of a call that will not run again. */
function notAgain({ neverRan }: Asked, why: string): CheckedCall {
	return neverRan === true ? failedCall(`The call was not run. ${why}`) : unknown(why);
}

function unknown(why?: string): CheckedCall {
	const result = why === undefined ? unknownOutcome : `${unknownOutcome} (${why})`;
	return { kind: "settled", outcome: "unknown", result };
}

async function reconciled(
	reconcile: NonNullable<EngineTool["reconcile"]>,
	idempotencyKey: string,
	input: unknown,
	again: () => CheckedCall | Promise<CheckedCall>,
): Promise<CheckedCall> {
	let found: Awaited<ReturnType<typeof reconcile>>;
	try {
		found = await reconcile({ idempotencyKey, input });
	} catch (error) {
		return {
			kind: "settled",
			outcome: "unknown",
			result: `${unknownOutcome} (The attempt to determine it failed: ${messageOf(error)})`,
		};
	}
	if (found === undefined) return unknown();
	if ("retry" in found) return again();
	if ("error" in found) return failedCall(messageOf(found.error));
	return { kind: "settled", outcome: "done", result: found.result };
}

function isSameJson(one: unknown, other: unknown): boolean {
	return one === other || JSON.stringify(one) === JSON.stringify(other);
}
