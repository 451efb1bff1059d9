// The tool that delegates work to one sub-agent. Its schema is fixed; nothing in it derives from the agent. Its result is
// compact: how the work ended and the sub-agent's answer, without the steps in between.
import { HoldfastError } from "@holdfast/upp";
import type { RunKind, SubagentJobEvent } from "../facts/index.ts";
import type { SessionTable } from "../sessions/index.ts";
import type { AnyTool, ToolContext } from "../tools/index.ts";
import type { BackgroundJobs } from "./background-jobs.ts";
import type { Subagent } from "./check-subagents.ts";
import { followTask, shownIn, submitTask, takeBack } from "./child-task.ts";
import type { ChildTask } from "./read-task.ts";
import { recordSpent } from "./spent.ts";
import { type BackgroundTask, namedKey, readTaskKey, taskIdOf, taskKey } from "./task-key.ts";
import { firstUndone } from "./undone-work.ts";

/** The arguments that a model gives. */
interface Arguments {
	readonly prompt: string;
	readonly description?: string;
	readonly sessionKey?: string;
	readonly run_in_background?: boolean;
}

const parameters = {
	type: "object",
	properties: {
		prompt: { type: "string", minLength: 1, description: "The task, with everything needed to do it." },
		description: { type: "string", description: "The task in a few words, for observers." },
		sessionKey: {
			type: "string",
			description:
				"Names a conversation with the sub-agent; the same name continues it. Default: one for all.",
		},
	},
	required: ["prompt"],
} as const;

const inBackground = {
	...parameters,
	properties: {
		...parameters.properties,
		run_in_background: {
			type: "boolean",
			description:
				"Return at once with a task_id; a <system-reminder> reports when the work is done. Default: wait for the result.",
		},
	},
} as const;

/** Creates the tool. `parent` is the table with the sessions that call the tool, `child` the sub-agent's table. */
export function delegateTool(
	{ name, description, toolName }: Subagent,
	parent: SessionTable,
	child: () => SessionTable,
	jobs: BackgroundJobs,
): AnyTool {
	/** Creates the requested work, which is the same for every attempt at the call. */
	const taskOf = (storeKey: string, runKind: RunKind, given: Arguments, context: ToolContext): ChildTask => ({
		storeKey,
		runId: context.idempotencyKey,
		prompt: given.prompt,
		origin: {
			runKind,
			...(context.caller === undefined ? {} : { caller: context.caller }),
			parent: {
				sessionKey: context.sessionKey ?? "",
				runId: context.runId,
				toolCallId: context.toolCallId,
				...(given.description === undefined ? {} : { description: given.description }),
			},
		},
	});
	const about = ({ description: what }: Arguments): { description?: string } =>
		what === undefined ? {} : { description: what };

	/** Submits the work to the sub-agent: once, however often it is requested. */
	async function accept(
		task: ChildTask,
		parentKey: string,
		{ runId: parentRunId, toolCallId }: ToolContext,
		doneBy: "starter" | "scheduled",
	): Promise<void> {
		const { storeKey: sessionKey, runId, origin } = task;
		await jobs.mark(parentKey, { phase: "before-child-run", toolCallId, childRunId: runId });
		await submitTask(child(), task);
		const kind = origin.runKind;
		const taskId = kind === "background-subagent" ? { publicTaskId: taskIdOf(runId) } : {};
		await child().records?.children.accepted({ runId, sessionKey, kind, parentRunId, ...taskId }, doneBy);
		await jobs.mark(parentKey, { phase: "child-linked", toolCallId, childRunId: runId });
	}

	async function wait(given: Arguments, parentKey: string, context: ToolContext): Promise<unknown> {
		const emit = (event: SubagentJobEvent): void => context.onSubagentEvent(event);
		const job = { subagent: name, delegateToolCallId: context.toolCallId };
		const storeKey = namedKey(parentKey, name, given.sessionKey);
		emit({ type: "subagent-job-start", run_in_background: false, ...job, ...about(given) });
		const work = taskOf(storeKey, "subagent", given, context);
		const task = { ...work, insteadOf: await firstUndone(child(), parent, parentKey, work) };
		try {
			await accept(task, parentKey, context, "starter");
		} catch (error) {
			takeBack(child(), task, context.signal, error);
			throw error;
		}
		const watching = shownIn(context);
		const end = await followTask(child(), task, context.signal, watching);
		const { status, text, output, error, eventCount } = end;
		await recordSpent(child(), task, context);
		const why = error === undefined ? {} : { error };
		emit({ type: "subagent-job-end", status, eventCount, ...why, ...job });
		if (status === "completed") return output === undefined ? { status, text } : { status, output };
		if (status === "cancelled") {
			throw new HoldfastError("subagent_cancelled", `The work of the sub-agent "${name}" was cancelled.`);
		}
		throw new HoldfastError(
			"subagent_failed",
			`The sub-agent "${name}" failed: ${error ?? "it gave no reason."}`,
		);
	}

	async function launch(given: Arguments, parentKey: string, context: ToolContext): Promise<unknown> {
		const taskId = taskIdOf(context.idempotencyKey);
		const storeKey = taskKey(parentKey, name, taskId);
		// The scheduler of a different store cannot call a process that can reach the parent.
		const isScheduled = parent.background === "durable" && child().journal === parent.journal;
		const doneBy = isScheduled ? (parent.records?.children.doneBy ?? "starter") : "starter";
		await accept(taskOf(storeKey, "background-subagent", given, context), parentKey, context, doneBy);
		context.onSubagentEvent({
			type: "subagent-job-start",
			subagent: name,
			run_in_background: true,
			task_id: taskId,
			delegateToolCallId: context.toolCallId,
			...about(given),
		} satisfies SubagentJobEvent);
		const task = readTaskKey(storeKey) as BackgroundTask;
		if (doneBy === "scheduled") jobs.scheduled(task);
		else jobs.start(task, { toolCallId: context.toolCallId, description: given.description ?? "" });
		return {
			task_id: taskId,
			status: "running",
			text: `The sub-agent "${name}" works in the background. Wait for a <system-reminder> before you retrieve its output with background_output.`,
		};
	}

	return {
		name: toolName,
		description: `Gives a task to the sub-agent "${name}" and returns its answer. ${description}`,
		parameters: parent.background === undefined ? parameters : inBackground,
		// The sub-agent's session accepts the same work only once.
		retryPolicy: "idempotent",
		run(given: Arguments, context: ToolContext) {
			const parentKey = parent.storeKeyOf(context.sessionKey ?? "");
			const works = parent.background !== undefined && given.run_in_background === true ? launch : wait;
			return works(given, parentKey, context);
		},
	};
}
