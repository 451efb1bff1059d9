// The first check of one call of a round. Afterwards the call starts, waits, or already has its result (keeps I3).
import { after, type ToolCall } from "@holdfast/upp";
import type { MaybePromise } from "../host/index.ts";
import { admitResult } from "./admit-result.ts";
import type { CallInRound } from "./call-in-round.ts";
import { checkWaiting, recoverCall } from "./check-again.ts";
import { type CheckedCall, checkCall, failedCall } from "./check-call.ts";
import { pendingBefore, settingOf } from "./round-end.ts";
import type { Run } from "./run.ts";
import { toolOf } from "./tool-of.ts";

/** Checks a call. `cycle` explains why it cannot be ordered among the others. */
export function prepareCall(
	run: Run,
	each: CallInRound,
	cycle: string | undefined,
): MaybePromise<CheckedCall> {
	each.phase = "preparing";
	const { call } = each;
	if (cycle !== undefined) return failedCall(cycle);
	const tool = toolOf(run.agent, call);
	if (tool !== undefined) each.tool = tool;
	const { started } = each;
	const { interceptors } = run;
	const setting = settingOf(run, each.offered);
	const pending = pendingBefore(run, call);
	const child = run.state.run?.children?.find(({ callId }) => callId === call.toolCallId);
	const waited = each.child !== undefined || (child !== undefined && child.status === undefined);
	if (waited) each.waited = (each.child?.child ?? child)?.wait;
	const checked =
		started !== undefined
			? recoverCall(
					setting,
					call,
					started,
					waited ? "waited" : { pending, approval: each.approval, neverRan: each.neverRan },
				)
			: pending !== undefined
				? checkWaiting(setting, call, pending, each.approval)
				: checkCall(setting, call);
	if (interceptors.toolResult === undefined) return checked;
	return admitFound(run, call, checked);
}

function admitFound(run: Run, call: ToolCall, checked: MaybePromise<CheckedCall>): MaybePromise<CheckedCall> {
	return after(checked, (found) => admitSettled(run, call, found));
}

/**
 * A result that no tool returned may be replaced like any other. A call that starts is admitted in the append that
 * requests it.
 */
function admitSettled(run: Run, call: ToolCall, checked: CheckedCall): MaybePromise<CheckedCall> {
	if (checked.kind !== "settled") return checked;
	const admitted = admitResult(run, call, call.arguments, checked.outcome, checked.result);
	const { details, ...given } = checked;
	return after(admitted, (found) => {
		const isSame = details !== undefined && found.result === given.result;
		return isSame ? { ...given, ...found, details } : { ...given, ...found };
	});
}
