/** Answers to calls that wait for approval. */
import type { PendingToolCall, ToolAnswer } from "holdfast";
import type { Proposal } from "../render/index.ts";

/** Approves a call, and of its change only the version that was shown. */
export function approved({ call, change }: Proposal): ToolAnswer {
	const basis = change === undefined ? {} : { basis: change.versions };
	return { ...idOf(call), approved: true, ...basis };
}

/** Denies a call; the model receives the reason. */
export function denied(call: PendingToolCall, reason: string | undefined): ToolAnswer {
	return { ...idOf(call), approved: false, ...(reason === undefined ? {} : { reason }) };
}

/** Limits an answer to the run that was shown, because another run may reuse ids of calls. */
function idOf({ runId, toolCallId }: PendingToolCall): Pick<PendingToolCall, "runId" | "toolCallId"> {
	return { runId, toolCallId };
}
