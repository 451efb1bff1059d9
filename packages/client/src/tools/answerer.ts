// Answers pending calls: with results of tools that run here, and with approvals. Each call is answered once, even if it
// is pending in several rounds.

import type { Answer, ApprovalAnswer, PendingToolCall, ToolAnswer } from "../wire/index.ts";
import { type ClientTool, isLocalTool } from "./client-tool.ts";
import { failedCall, messageOf, runCall } from "./run-call.ts";

/** A decision on a call; undefined leaves the call to other clients. */
export type Approval =
	| boolean
	| {
			readonly approved: boolean;
			readonly reason?: string;
			/** Replaces the displayed arguments of a call with `mayEdit`. */
			readonly input?: Readonly<Record<string, unknown>>;
	  }
	| undefined;

/** Decides whether a call may run. If it throws, the call is denied. */
export type Approve = (call: PendingToolCall) => Approval | Promise<Approval>;

/** Options of the answerer. */
export interface AnswererOptions {
	/** If absent, no calls are answered. */
	readonly tools?: ReadonlyMap<string, ClientTool> | undefined;
	readonly approve?: Approve | undefined;
	/** How to treat calls of tools that are not among `tools`. */
	readonly unknownTools: "refuse" | "leave";
	readonly signal: AbortSignal;
}

/** Answers calls. */
export interface Answerer {
	/** Returns answers to some of the calls, to send together; none if all of them are for other clients. */
	answer(sessionId: string, calls: readonly PendingToolCall[]): Promise<readonly Answer[]>;
}

export function createAnswerer({ tools, approve, unknownTools, signal }: AnswererOptions): Answerer {
	const results = new Map<string, Promise<ToolAnswer>>();
	const decisions = new Map<string, Promise<ApprovalAnswer | undefined>>();

	function start(sessionId: string, call: PendingToolCall): void {
		if (call.approval === true) {
			if (approve !== undefined && !decisions.has(call.id)) decisions.set(call.id, decide(approve, call));
			return;
		}
		if (tools === undefined || results.has(call.id)) return;
		const tool = tools.get(call.name);
		if (tool === undefined) {
			if (unknownTools === "refuse") results.set(call.id, Promise.resolve(refuse(tools, call)));
		} else if (isLocalTool(tool)) {
			const idempotencyKey = `${sessionId}/${call.id}`;
			const context = { toolCallId: call.id, toolName: call.name, signal, idempotencyKey };
			results.set(call.id, runCall(tool, call, context));
		}
	}

	return {
		async answer(sessionId, calls) {
			forgetAllBut(results, calls);
			forgetAllBut(decisions, calls);
			for (const call of calls) start(sessionId, call);
			// Results are sent first and together; decisions take longer and follow as they arrive.
			return results.size > 0 ? Promise.all(results.values()) : firstDecisions([...decisions.values()]);
		},
	};
}

function forgetAllBut(taken: Map<string, unknown>, calls: readonly PendingToolCall[]): void {
	const ids = new Set(calls.map(({ id }) => id));
	for (const id of taken.keys()) if (!ids.has(id)) taken.delete(id);
}

function refuse(tools: ReadonlyMap<string, ClientTool>, call: PendingToolCall): ToolAnswer {
	const names = [...tools.keys()].map((name) => `"${name}"`).join(", ");
	return failedCall(
		call,
		`The tool "${call.name}" does not exist. Available: ${names === "" ? "none" : names}.`,
	);
}

async function decide(approve: Approve, call: PendingToolCall): Promise<ApprovalAnswer | undefined> {
	const run = call.runId === undefined ? {} : { runId: call.runId };
	const about = { role: "approval", toolCallId: call.id, ...run } as const;
	try {
		const said = await approve(call);
		if (said === undefined) return undefined;
		if (typeof said === "boolean") return { ...about, approved: said };
		if (typeof said?.approved !== "boolean") throw new TypeError("`approve` returned no decision.");
		return { ...about, ...said };
	} catch (error) {
		return { ...about, approved: false, reason: `The approval could not be requested: ${messageOf(error)}` };
	}
}

/** Waits for the first decision, and returns those made together with it; none if no decision is made. */
function firstDecisions(
	open: readonly Promise<ApprovalAnswer | undefined>[],
): Promise<readonly ApprovalAnswer[]> {
	return new Promise((resolve) => {
		const made: ApprovalAnswer[] = [];
		let left = open.length;
		if (left === 0) resolve(made);
		for (const decision of open) {
			decision.then((answer) => {
				left -= 1;
				if (answer !== undefined) made.push(answer);
				// Waits a moment, so that immediate decisions are sent together.
				if (made.length === 1 || left === 0) queueMicrotask(() => resolve([...made]));
			});
		}
	});
}
