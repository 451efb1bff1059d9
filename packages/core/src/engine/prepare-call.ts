// What becomes of one call of a round: it starts, waits, or has its result already (keeps I3).
import { after, type ToolCall } from "@holdfast/upp";
import type { WaitingChild } from "../facts/index.ts";
import type { MaybePromise } from "../host/index.ts";
import { admitResult } from "./admit-result.ts";
import type { CallInRound } from "./call-in-round.ts";
import { checkWaiting, recoverCall } from "./check-again.ts";
import { type CheckedCall, checkCall, failedCall } from "./check-call.ts";
import { pendingBefore, settingOf } from "./round-end.ts";
import type { Run } from "./run.ts";

/** Looks at a call; `cycle` says why it cannot be ordered among the others. */
export function prepareCall(
	run: Run,
	each: CallInRound,
	cycle: string | undefined,
): MaybePromise<CheckedCall> {
	each.phase = "preparing";
	const { call } = each;
	if (cycle !== undefined) return failedCall(cycle);
	const tool = run.agent.tools.get(call.toolName);
	if (tool !== undefined) each.tool = tool;
	const { started } = each;
	const { interceptors } = run;
	const setting = settingOf(run);
	const pending = pendingBefore(run, call);
	const checked =
		started !== undefined
			? recoverCall(
					setting,
					call,
					started,
					hasWaited(run, each) ? "waited" : { pending, approval: each.approval },
				)
			: pending !== undefined
				? checkWaiting(setting, call, pending, each.approval)
				: checkCall(setting, call);
	if (interceptors.toolResult === undefined) return checked;
	return admitFound(run, call, checked);
}

/** Whether the call has waited for its sub-agent. */
function hasWaited({ state }: Run, { call, child }: CallInRound): boolean {
	const isIt = ({ callId, status }: WaitingChild): boolean =>
		callId === call.toolCallId && status === undefined;
	return child !== undefined || state.run?.children?.some(isIt) === true;
}

function admitFound(run: Run, call: ToolCall, checked: MaybePromise<CheckedCall>): MaybePromise<CheckedCall> {
	return after(checked, (found) => admitSettled(run, call, found));
}

/** A result that no tool gave is replaced like any other. A call that starts does so in the append that asks for it. */
function admitSettled(run: Run, call: ToolCall, checked: CheckedCall): MaybePromise<CheckedCall> {
	if (checked.kind !== "settled") return checked;
	const admitted = admitResult(run, call, call.arguments, checked.outcome, checked.result);
	const { details, ...given } = checked;
	return after(admitted, (found) => {
		const isSame = details !== undefined && found.result === given.result;
		return isSame ? { ...given, ...found, details } : { ...given, ...found };
	});
}
