// The tools that a model uses to manage its background tasks. Tasks of other sessions are invisible to it.
import { kill, type SessionTable } from "../sessions/index.ts";
import type { AnyTool, ToolContext } from "../tools/index.ts";
import type { BackgroundJobs } from "./background-jobs.ts";
import { isSettled } from "./child-task.ts";
import { journalChange } from "./journal-change.ts";
import { readTask, type TaskState } from "./read-task.ts";
import { recordSpent } from "./spent.ts";
import { type BackgroundTask, taskKey } from "./task-key.ts";

/**
 * Seconds that `background_output` waits for a task with `block`: the default, and the maximum that the model may choose.
 */
const waitsFor = { usual: 60, most: 600 };

const taskId = { type: "string", description: "The id returned when the task started: bg_..." } as const;

/** Creates `background_output` and `background_cancel` for the sessions of a table. */
export function backgroundTools(
	parent: SessionTable,
	tables: ReadonlyMap<string, () => SessionTable>,
	jobs: BackgroundJobs,
): readonly AnyTool[] {
	const find = async (id: string, context: ToolContext): Promise<BackgroundTask | undefined> => {
		const parentKey = parent.storeKeyOf(context.sessionKey ?? "");
		const storeKeys = [...tables.keys()].map((subagent) => taskKey(parentKey, subagent, id));
		return jobs.find(storeKeys);
	};
	const tableOf = ({ subagent }: BackgroundTask): SessionTable => tables.get(subagent)?.() ?? parent;
	const stateOf = (task: BackgroundTask): Promise<TaskState> =>
		readTask(tableOf(task).journal, task.storeKey, task.runId);

	return [
		{
			name: "background_output",
			description:
				"Returns the status of a background task and, once it is done, its result. Call it after the <system-reminder> about the task.",
			parameters: {
				type: "object",
				properties: {
					task_id: taskId,
					block: { type: "boolean", description: "Wait until the task is done. Default false." },
					timeout_seconds: {
						type: "number",
						minimum: 0,
						description: `How long to wait with block. Default ${waitsFor.usual}, at most ${waitsFor.most}.`,
					},
				},
				required: ["task_id"],
			},
			retryPolicy: "pure",
			async run(
				given: { readonly task_id: string; readonly block?: boolean; readonly timeout_seconds?: number },
				context: ToolContext,
			) {
				const task = await find(given.task_id, context);
				if (task === undefined) return notFound(given.task_id);
				const seconds = Math.min(given.timeout_seconds ?? waitsFor.usual, waitsFor.most);
				const state =
					given.block === true
						? await settled(
								{ journal: tableOf(task).journal, timers: parent.timers },
								task,
								() => stateOf(task),
								seconds * 1_000,
								context.signal,
							)
						: await stateOf(task);
				if (isSettled(state)) await jobs.retrieved(task, context);
				return result(task, state);
			},
		},
		{
			name: "background_cancel",
			description: "Stops a background task permanently. It sends no reminder.",
			parameters: { type: "object", properties: { task_id: taskId }, required: ["task_id"] },
			retryPolicy: "idempotent",
			async run(given: { readonly task_id: string }, context: ToolContext) {
				const task = await find(given.task_id, context);
				if (task === undefined) return notFound(given.task_id);
				const table = tables.get(task.subagent)?.();
				if (table !== undefined && !isSettled(await stateOf(task))) {
					await kill(table, table.queue(task.storeKey));
					// No reminder will count the usage.
					await recordSpent(table, task, context);
				}
				return result(task, await stateOf(task));
			},
		},
	];
}

function result(task: BackgroundTask, { status, text, error }: TaskState): unknown {
	const outcome = status === "completed" ? { text } : error === undefined ? {} : { error };
	return { task_id: task.taskId, subagent: task.subagent, status, ...outcome };
}

function notFound(id: string): unknown {
	return { task_id: id, status: "not_found", text: "There is no such background task in this session." };
}

/** Returns the state of the task when it has ended or the time is up. */
async function settled(
	waiting: Pick<SessionTable, "journal" | "timers">,
	task: BackgroundTask,
	look: () => Promise<TaskState>,
	milliseconds: number,
	signal: AbortSignal,
): Promise<TaskState> {
	const over = new AbortController();
	const callOff = waiting.timers.after(milliseconds, () => over.abort());
	const either = AbortSignal.any([over.signal, signal]);
	try {
		for (;;) {
			const change = journalChange(waiting, task.storeKey, either);
			const state = await look();
			if (isSettled(state) || either.aborted) {
				change.cancel();
				return state;
			}
			await change.happened;
		}
	} finally {
		callOff();
	}
}
