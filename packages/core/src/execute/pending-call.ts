// Converts calls that wait for outside answers to the form that executions use. Pure.
import type { PendingToolCall, RunEvent } from "../facts/index.ts";
import type { PendingSessionCall } from "./execute-event.ts";
import { sessionCall } from "./session-message.ts";

type WaitingCall = Extract<RunEvent, { type: "waiting" }>["calls"][number];

/** Returns the calls that a run waits for. */
export function pendingCallsOf(runId: string, calls: readonly WaitingCall[]): readonly PendingSessionCall[] {
	return calls.map(({ call, awaits, deadline, mayEdit, path }) => {
		const approval = awaits === "approval" ? { approval: true as const, runId } : {};
		return {
			...sessionCall(call),
			...approval,
			...(deadline === undefined ? {} : { deadline }),
			...(mayEdit === undefined ? {} : { mayEdit }),
			...(path === undefined ? {} : { path }),
		};
	});
}

/** Returns the call that a background task waits for; none if the call is not a background task's. */
export function backgroundCall(pending: PendingToolCall): readonly PendingSessionCall[] {
	const { taskId, toolCallId: id, toolName: name, arguments: input, awaits, runId, ...more } = pending;
	if (taskId === undefined) return [];
	const approval = awaits === "approval" ? { approval: true as const, runId } : {};
	return [{ id, name, arguments: input, ...approval, ...more, taskId }];
}
