// The background tasks of one table's sessions in this process: follows them to their end, shows them to watchers, and
// reports them in reminders. The tasks that one turn started form a group: its successes share one reminder, sent when
// the turn and all tasks have ended; each failure gets one at once.
import type { Message } from "@holdfast/upp";
import type { Mark, Run } from "../engine/index.ts";
import { type JobStatus, runMessages, type SubagentJobEnd, type SubagentJobEvent } from "../facts/index.ts";
import type { Journal } from "../host/index.ts";
import { remove, type SessionTable, storeKeysWith } from "../sessions/index.ts";
import type { ToolContext } from "../tools/index.ts";
import { followTask, isSettled, type TaskEnd } from "./child-task.ts";
import { readTask } from "./read-task.ts";
import { type FinishedTask, readReminder, remind, reminderText } from "./reminders.ts";
import { recordSpent, spentBy, sumSpent } from "./spent.ts";
import { type BackgroundTask, groupPrefix, readTaskKey, taskKey } from "./task-key.ts";

/** A task that is about to start. */
interface Launch {
	readonly toolCallId: string;
	readonly description: string;
}

/** The tasks that one turn started. */
interface Group {
	/** The number of tasks in progress here. */
	live: number;
	/** Tasks that were started and ended here, by store key: they need not be read again. */
	readonly ended: Map<string, Pick<TaskEnd, "status"> & Pick<Launch, "description">>;
}

export class BackgroundJobs {
	readonly #table: SessionTable;
	/** The sessions of each sub-agent, by name. */
	readonly #tables: ReadonlyMap<string, () => SessionTable>;
	/** The tasks followed here, by store key, and whether a run has been notified of their end in the meantime. */
	readonly #jobs = new Map<string, { isLearned: boolean }>();
	/** Work that must finish before the journal may be closed. */
	readonly #underWay = new Set<Promise<unknown>>();
	/** Tasks of a host that does not keep them beyond the process. */
	readonly #known = new Set<string>();
	/** Parents' runs in progress here, by store key. */
	readonly #runs = new Map<string, Run>();
	/** Groups with tasks that were started here, until their reminder is sent. */
	readonly #groups = new Map<string, Group>();
	/** Ids of tasks whose end was an event of the run that started them, until their reminder is read. */
	readonly #reported = new Set<string>();
	/** Ends of tasks that no run has been notified of. */
	readonly #unreported = new Map<string, SubagentJobEnd>();
	/** Ids of tasks of such a host whose usage is contained in their reminder. */
	readonly #counted = new Set<string>();
	/** The group whose reminder was last searched for. */
	#remindedOf: string | undefined;
	readonly #closing = new AbortController();

	constructor(table: SessionTable, tables: ReadonlyMap<string, () => SessionTable>) {
		this.#table = table;
		this.#tables = tables;
	}

	/** A parent's run is in progress until `over` settles; then its group's reminder may be sent. */
	driven(storeKey: string, run: Run, over: Promise<unknown>): void {
		this.#runs.set(storeKey, run);
		// The run's first facts were committed before it had watchers.
		if (run.state.run?.attempt === 1)
			for (const message of runMessages(run.state)) this.#reminded(storeKey, message);
		run.watch({
			notify: (event) => {
				if (event.type === "input") this.#reminded(storeKey, event.message);
			},
		});
		const ended = over.then(async () => {
			if (this.#runs.get(storeKey) === run) this.#runs.delete(storeKey);
			// A run that was resumed after a crash may have started tasks before the crash.
			const { attempt = 1 } = run.state.run ?? {};
			if (!this.#groups.has(run.runId) && attempt === 1) return;
			await this.#remindOfGroup(storeKey, run.runId);
		});
		this.#settleBeforeClose(ended);
	}

	/** A task was accepted that the scheduler will deliver. */
	scheduled({ groupId }: BackgroundTask): void {
		this.#group(groupId);
	}

	/** Makes the records of the parent's run store its progress. */
	async mark(parentKey: string, mark: Mark): Promise<void> {
		await this.#runs.get(parentKey)?.mark(mark);
	}

	/** Follows an accepted task. Calling it again has no effect. */
	start(task: BackgroundTask, launch?: Launch): void {
		const { storeKey, parentKey, groupId, taskId } = task;
		if (this.#jobs.has(storeKey) || this.#closing.signal.aborted) return;
		const table = this.#tables.get(task.subagent)?.();
		if (table === undefined) return;
		// The task is already being followed again: a second follower would emit its end twice.
		this.#table.later.callOff(followLater(taskId));
		this.#known.add(storeKey);
		const group = this.#group(groupId);
		group.live++;
		const { subagent } = task;
		const followedHere = { isLearned: false };
		const emit = (event: SubagentJobEvent): boolean =>
			!followedHere.isLearned && this.#emit(parentKey, launch?.toolCallId, event);
		let isUpdated = false;
		const update = (status: JobStatus, eventType?: string): void => {
			const about = { type: "subagent-job-update", task_id: taskId, subagent, status } as const;
			if (emit(eventType === undefined ? about : { ...about, eventType })) isUpdated = true;
		};
		const followed = followTask(table, task, this.#closing.signal, {
			onEvent: ({ type }) => update("running", type),
		});
		const job = followed.then(
			async (end) => {
				const { status, eventCount, error } = end;
				group.live--;
				if (launch !== undefined) group.ended.set(storeKey, { status, description: launch.description });
				// The task had ended before it could be followed.
				if (!isUpdated) update(status);
				const why = error === undefined ? {} : { error };
				const ended = {
					type: "subagent-job-end",
					subagent,
					status,
					eventCount,
					task_id: taskId,
					...why,
				} as const;
				const isEmitted = emit(ended);
				// Cancelled tasks get no reminder, and no reminder is repeated.
				const isReminded = status !== "cancelled" && !followedHere.isLearned;
				if (isReminded && isEmitted) this.#reported.add(taskId);
				else if (isReminded) this.#unreported.set(taskId, ended);
				await this.#ended(task, end);
			},
			(error: unknown) => {
				group.live--;
				// The store failed, but the work continues here. If suspended: the process that recovers the session
				// follows it.
				if ((error as { retryable?: unknown } | null)?.retryable === true) this.#startLater(task, launch);
			},
		);
		this.#jobs.set(storeKey, followedHere);
		this.#settleBeforeClose(job.finally(() => this.#jobs.delete(storeKey)));
	}

	#startLater(task: BackgroundTask, launch: Launch | undefined): void {
		const start = async (): Promise<void> => this.start(task, launch);
		this.#table.later.set(followLater(task.taskId), start, () => !this.#closing.signal.aborted);
	}

	/** Returns the task with one of these store keys; undefined for unknown keys. */
	async find(storeKeys: readonly string[]): Promise<BackgroundTask | undefined> {
		for (const storeKey of storeKeys) {
			const isOurs = this.#isLasting || this.#known.has(storeKey);
			const task = readTaskKey(storeKey);
			if (task === undefined || !isOurs) continue;
			if ((await this.#journalOf(task).head(storeKey)) !== undefined) return task;
		}
		return undefined;
	}

	/**
	 * The output was retrieved: a host that keeps tasks only in the process now drops this one. The task's usage counts
	 * for the call unless a reminder contains it.
	 */
	async retrieved(task: BackgroundTask, context: ToolContext): Promise<void> {
		const { storeKey, subagent, taskId } = task;
		if (this.#isLasting || !this.#known.delete(storeKey)) return;
		if (!this.#counted.delete(taskId)) await recordSpent({ journal: this.#journalOf(task) }, task, context);
		const table = this.#tables.get(subagent)?.();
		if (table !== undefined) await remove(table, table.queue(storeKey));
	}

	/** Follows a task that another process left, or sends the reminder that the process did not send. */
	async adopt(task: BackgroundTask): Promise<"under-way" | "none"> {
		if (!this.#isLasting || this.#jobs.has(task.storeKey)) return "none";
		const state = await readTask(this.#journalOf(task), task.storeKey, task.runId);
		if (!isSettled(state)) {
			this.start(task);
			return "under-way";
		}
		await this.#ended(task, state);
		return "none";
	}

	/** Sends the missing reminder of an ended task; only once for consecutive tasks of one group. */
	async retell(task: BackgroundTask): Promise<void> {
		if (!this.#isLasting || this.#jobs.has(task.storeKey)) return;
		const state = await readTask(this.#journalOf(task), task.storeKey, task.runId);
		if (!isSettled(state)) return;
		if (state.status === "error") await this.#remindOfFailure(task);
		if (this.#remindedOf === task.groupId) return;
		this.#remindedOf = task.groupId;
		await this.#remindOfGroup(task.parentKey, task.groupId);
	}

	/** Stops following, and leaves all tasks unchanged. */
	async close(): Promise<void> {
		this.#closing.abort(Object.assign(new Error("The agent was closed."), { stopReason: "suspend" }));
		while (this.#underWay.size > 0) await Promise.all(this.#underWay);
	}

	#settleBeforeClose(work: Promise<unknown>): void {
		// A reminder that could not be sent is sent by the next recovery.
		const settled: Promise<unknown> = work.catch(() => {}).then(() => this.#underWay.delete(settled));
		this.#underWay.add(settled);
	}

	/** Returns the journal with the sessions of a sub-agent. */
	#journalOf({ subagent }: Pick<BackgroundTask, "subagent">): Journal {
		return (this.#tables.get(subagent)?.() ?? this.#table).journal;
	}

	get #isLasting(): boolean {
		return this.#table.background === "durable";
	}

	#group(groupId: string): Group {
		const group = this.#groups.get(groupId) ?? { live: 0, ended: new Map() };
		this.#groups.set(groupId, group);
		return group;
	}

	async #ended(task: BackgroundTask, { status }: Pick<TaskEnd, "status">): Promise<void> {
		if (status === "error") await this.#remindOfFailure(task);
		await this.#remindOfGroup(task.parentKey, task.groupId);
	}

	async #remindOfFailure(task: BackgroundTask): Promise<void> {
		// Read before the task, which is deleted before its session is.
		const incarnation = (await this.#table.journal.head(task.parentKey))?.incarnation;
		if (incarnation === undefined) return;
		const text = reminderText([await this.#describe(task)], "failed");
		await this.#remind(incarnation, `reminder.${task.taskId}`, text, [task]);
	}

	/** Delivers the reminder of a group's successes, if none of its tasks is in progress. */
	async #remindOfGroup(parentKey: string, groupId: string): Promise<void> {
		const group = this.#groups.get(groupId);
		const isUnderWay = (): boolean => group !== undefined && group.live > 0;
		if (isUnderWay() || this.#runs.get(parentKey)?.runId === groupId) return;
		const { journal } = this.#table;
		// Read before the tasks, which are deleted before their session is.
		const { incarnation, openRunId } = (await journal.head(parentKey)) ?? {};
		if (openRunId === groupId) return;
		const successes: FinishedTask[] = [];
		const over: BackgroundTask[] = [];
		for (const task of await this.#tasksOf(parentKey, groupId)) {
			const known = group?.ended.get(task.storeKey);
			const state = known ?? (await readTask(this.#journalOf(task), task.storeKey, task.runId));
			if (!isSettled(state)) return;
			if (state.status !== "completed") continue;
			over.push(task);
			successes.push(known === undefined ? await this.#describe(task) : finished(task, known.description));
		}
		if (!isUnderWay()) this.#groups.delete(groupId);
		if (over.length === 0 || incarnation === undefined) return;
		await this.#remind(incarnation, `reminder.${groupId}`, reminderText(successes, "completed"), over);
	}

	/** Returns all tasks of a group that still exist. */
	async #tasksOf(parentKey: string, groupId: string): Promise<readonly BackgroundTask[]> {
		const { records } = this.#table;
		const storeKeys = new Set(await records?.children.placesOf(groupId));
		for (const subagent of this.#tables.keys()) {
			const journal = this.#journalOf({ subagent });
			for await (const storeKey of storeKeysWith(journal, groupPrefix(parentKey, subagent, groupId)))
				storeKeys.add(storeKey);
		}
		return [...storeKeys].flatMap((storeKey) => {
			const task = readTaskKey(storeKey);
			const isOfGroup = task?.parentKey === parentKey && task.groupId === groupId;
			return isOfGroup && (this.#isLasting || this.#known.has(storeKey)) ? [task] : [];
		});
	}

	async #remind(
		incarnation: string,
		id: string,
		text: string,
		tasks: readonly BackgroundTask[],
	): Promise<void> {
		const task = tasks.at(-1) as BackgroundTask;
		const { parentKey: storeKey } = task;
		const [first] = await this.#journalOf(task).read(task.storeKey, { limit: 1 });
		// The task was removed with the session that began it, and another session now has that key.
		if (first === undefined) return;
		const caller = first.fact.kind === "run.started" ? first.fact.caller : undefined;
		const spent = sumSpent(await Promise.all(tasks.map((each) => spentBy(this.#journalOf(each), each))));
		for (const { taskId } of tasks) if (!this.#isLasting) this.#counted.add(taskId);
		const to = { storeKey, incarnation, run: this.#runs.get(storeKey), caller };
		await remind(this.#table, to, id, text, spent);
	}

	async #describe(task: BackgroundTask): Promise<FinishedTask> {
		const [first] = await this.#journalOf(task).read(task.storeKey, { limit: 1 });
		const parent = first?.fact.kind === "run.started" ? first.fact.parent : undefined;
		return finished(task, parent?.description);
	}

	/** Notifies a run of tasks that ended after the run that started them: their ends are events of it. */
	#reminded(parentKey: string, message: Message): void {
		for (const { taskId, subagent, status } of readReminder(message)) {
			const known = this.#unreported.get(taskId);
			this.#unreported.delete(taskId);
			if (this.#reported.delete(taskId)) continue;
			// Another process noticed the end before this one, which still follows the task.
			const job = this.#jobs.get(taskKey(parentKey, subagent, taskId));
			if (job !== undefined) job.isLearned = true;
			// Another process followed the task and counted its events.
			const read = { type: "subagent-job-end", subagent, status, eventCount: 0, task_id: taskId } as const;
			this.#emit(parentKey, undefined, known ?? read);
		}
	}

	/** Emits an event of the parent's run; returns false if no run is in progress. */
	#emit(parentKey: string, toolCallId = "", event: SubagentJobEvent): boolean {
		const run = this.#runs.get(parentKey);
		if (run?.watched !== true || run.state.run?.status !== "running") return false;
		const { step } = run.state.run;
		run.emit({ type: "nested", ...run.at, step, toolCallId, event });
		return true;
	}
}

/** Returns the purpose of following a task later. */
function followLater(taskId: string): string {
	return `follow ${taskId}`;
}

function finished({ taskId, subagent }: BackgroundTask, description = ""): FinishedTask {
	return { taskId, subagent, description };
}
