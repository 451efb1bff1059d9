// A `createSubAgentTool` tool inside a session. Each call gives the sub-agent a session of its own, so that a crash
// repeats none of its effects, and its waits are those of the call (keeps I3, I4). In a plain call the tool behaves as
// before.
import { emptyUsage, sumUsage, type ToolCall, type ToolExecution } from "@holdfast/upp";
import { executionTrace, uapProjection } from "../engine/index.ts";
import { entriesAfter } from "../facts/index.ts";
import { childStoreKey } from "../host/index.ts";
import type { SessionAgent, SessionTable } from "../sessions/index.ts";
import type { AnyTool, SubagentEndEvent, SubagentEvent, ToolContext } from "../tools/index.ts";
import { followTask, shownIn, submitTask, takeBack } from "./child-task.ts";
import type { ChildTask } from "./read-task.ts";
import { recordSpent } from "./spent.ts";

/** The model and configuration of the agent that owns the tool. */
export interface OwnerOfTool {
	readonly model?: unknown;
	readonly config?: unknown;
}

/** The caller of a tool's sub-agent: what it has for an agent without a model, and its policy. */
export interface CallerOfTool extends OwnerOfTool {
	readonly policed: Pick<SessionAgent, "policy" | "admitWaiting">;
}

/** The work of a `createSubAgentTool` tool. */
export interface SubAgentWork {
	readonly subagentType: string;
	readonly agentId: string;
	/** Whether its own events are emitted. */
	readonly streams: boolean;
	promptOf(params: unknown): string;
	/**
	 * Returns the agent that does the work, with its own model or its caller's; undefined if it cannot run in a session.
	 */
	agentFor(caller: CallerOfTool): SessionAgent | undefined;
}

/** Keyed by the tool's function, which a copy of the tool shares. */
const works = new WeakMap<object, SubAgentWork>();

/** Stores the description of a tool's work. */
export function describeWork(run: object, work: SubAgentWork): void {
	works.set(run, work);
}

/** Returns the work of a tool created by `createSubAgentTool`; undefined for any other tool. */
export function workOf({ run }: AnyTool): SubAgentWork | undefined {
	return typeof run === "function" ? works.get(run) : undefined;
}

/**
 * Returns the name of a tool's sub-agent among those of its agent. It cannot collide, because no name in `subagents`
 * contains a space.
 */
export function subagentOfTool(name: string | undefined): string {
	return `tool ${name}`;
}

/** Returns the tool whose calls run in sessions of `child`. */
export function sessionTool(
	tool: AnyTool,
	work: SubAgentWork,
	parent: SessionTable,
	child: () => SessionTable,
): AnyTool {
	return {
		...tool,
		// The sub-agent's own tools declare their retry policies themselves.
		retryPolicy: tool.retryPolicy ?? "idempotent",
		run: (params: unknown, context: ToolContext) => carryOut(tool, work, params, context, parent, child()),
	};
}

async function carryOut(
	{ name }: AnyTool,
	work: SubAgentWork,
	params: unknown,
	context: ToolContext,
	parent: SessionTable,
	child: SessionTable,
): Promise<string> {
	const { subagentType, agentId, streams } = work;
	const { idempotencyKey: runId, toolCallId, sessionKey = "", caller, signal } = context;
	const prompt = work.promptOf(params);
	const parentKey = parent.storeKeyOf(sessionKey);
	const task: ChildTask = {
		storeKey: childStoreKey(parentKey, subagentOfTool(name), runId),
		runId,
		prompt,
		origin: {
			runKind: "subagent",
			...(caller === undefined ? {} : { caller }),
			parent: { sessionKey, runId: context.runId, toolCallId },
		},
	};
	const identity = { subagentId: runId, subagentType, parentToolCallId: toolCallId };
	const emit = (event: SubagentEvent): void => context.onSubagentEvent(event);
	emit({ type: "subagent_start", ...identity, prompt, timestamp: Date.now() });
	const project = uapProjection(agentId, (innerEvent) =>
		emit({ type: "subagent_event", ...identity, innerEvent }),
	);
	try {
		await submitTask(child, task);
		const { records } = child;
		const kind = "subagent";
		const accepted = { runId, sessionKey: task.storeKey, kind, parentRunId: context.runId } as const;
		await records?.children.accepted(accepted, "starter");
	} catch (error) {
		takeBack(child, task, signal, error);
		throw error;
	}
	const { status, text, error } = await followTask(child, task, signal, {
		...shownIn(context),
		...(streams ? { onRunEvent: project } : {}),
	});
	await recordSpent(child, task, context);
	const done = { timestamp: Date.now(), ...(await whatWasDone(child, task.storeKey)) };
	if (status === "completed") {
		emit({ type: "subagent_end", ...identity, success: true, result: text, ...done });
		return text;
	}
	const why = error ?? (status === "cancelled" ? "It was cancelled." : "It gave no reason.");
	emit({ type: "subagent_end", ...identity, success: false, error: why, ...done });
	throw new Error(why);
}

/**
 * Returns the tools that a sub-agent has run in its session, and its token usage, regardless of the process that ran it.
 */
async function whatWasDone(
	{ journal }: SessionTable,
	storeKey: string,
): Promise<Pick<SubagentEndEvent, "toolExecutions" | "usage">> {
	const calls = new Map<string, ToolCall>();
	const executions: Partial<ToolExecution>[] = [];
	let usage = emptyUsage();
	for await (const { fact } of entriesAfter(journal, storeKey, 0)) {
		if (fact.kind === "assistant") {
			usage = sumUsage(usage, fact.usage);
			for (const call of fact.message.toolCalls ?? []) calls.set(call.toolCallId, call);
		}
		// A strategy's own calls are in no message.
		if (fact.kind === "tools.requested") for (const call of fact.calls) calls.set(call.toolCallId, call);
		if (fact.kind !== "tool.settled") continue;
		const { callId, result, outcome, duration } = fact;
		const { toolName = "", arguments: given = {} } = calls.get(callId) ?? {};
		const isError = outcome !== "done";
		executions.push({ toolName, toolCallId: callId, arguments: given, result, isError, duration });
	}
	return { toolExecutions: executions.map((each) => executionTrace(each)), usage };
}
