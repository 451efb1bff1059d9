// The tasks of one table's sessions that this process works on in the background: followed to their end, told to whoever
// looks on, and reminded of. Tasks that one turn started are a group: its successes are told once, when the turn is over
// and all have ended; a failure is told at once.
import type { Mark, Run } from "../engine/index.ts";
import type { SubagentJobEvent } from "../facts/index.ts";
import { remove, type SessionTable, storeKeysWith } from "../sessions/index.ts";
import { followTask, isSettled, type TaskEnd } from "./child-task.ts";
import { readTask } from "./read-task.ts";
import { type FinishedTask, remind, reminderText } from "./reminders.ts";
import { groupPrefix, type PlacedTask, readTaskPlace } from "./task-place.ts";

/** What tells of a task that begins. */
interface Launch {
	readonly toolCallId: string;
	readonly description: string;
}

/** What is known here of the tasks that one turn started. */
interface Group {
	/** How many of them are under way here. */
	live: number;
	/** Those that were started and ended here, by place: they need not be read again. */
	readonly ended: Map<string, Pick<TaskEnd, "status"> & Pick<Launch, "description">>;
}

export class BackgroundJobs {
	readonly #table: SessionTable;
	/** The sessions of each sub-agent, by its name. */
	readonly #tables: ReadonlyMap<string, () => SessionTable>;
	/** Places of the tasks that are followed here. */
	readonly #jobs = new Set<string>();
	/** What is to be done before the journal may be closed. */
	readonly #underWay = new Set<Promise<unknown>>();
	/** Tasks of a host that forgets them with the process. */
	readonly #known = new Set<string>();
	/** Runs of parents under way here, by place. */
	readonly #runs = new Map<string, Run>();
	/** Groups with tasks that were started here, until they are told. */
	readonly #groups = new Map<string, Group>();
	/** The group that was told again last. */
	#retold: string | undefined;
	readonly #closing = new AbortController();

	constructor(table: SessionTable, tables: ReadonlyMap<string, () => SessionTable>) {
		this.#table = table;
		this.#tables = tables;
	}

	/** A run of a parent is under way until `over` settles; then its group may be told. */
	driven(place: string, run: Run, over: Promise<unknown>): void {
		this.#runs.set(place, run);
		const ended = over.then(async () => {
			if (this.#runs.get(place) === run) this.#runs.delete(place);
			// A run that goes on after a crash may have started some before it.
			const { attempt = 1 } = run.state.run ?? {};
			if (!this.#groups.has(run.runId) && attempt === 1) return;
			await this.#tellGroup(place, run.runId);
		});
		this.#settleBeforeClose(ended);
	}

	/** A task was accepted that somebody else is called to do. */
	scheduled({ groupId }: PlacedTask): void {
		this.#group(groupId);
	}

	/** Has the records of the parent's run remember where it stands. */
	async mark(parentPlace: string, mark: Mark): Promise<void> {
		await this.#runs.get(parentPlace)?.mark(mark);
	}

	/** Follows a task that was accepted; a second time nothing happens. */
	start(task: PlacedTask, launch?: Launch): void {
		const { place, groupId, taskId } = task;
		if (this.#jobs.has(place) || this.#closing.signal.aborted) return;
		const table = this.#tables.get(task.subagent)?.();
		if (table === undefined) return;
		this.#known.add(place);
		const group = this.#group(groupId);
		group.live++;
		const { subagent } = task;
		const tell = (event: SubagentJobEvent): void => this.#tell(task, launch, event);
		const followed = followTask(table, task, this.#closing.signal, ({ type }) => {
			tell({ type: "subagent-job-update", task_id: taskId, subagent, status: "running", eventType: type });
		});
		const job = followed.then(
			async (end) => {
				const { status, eventCount, error } = end;
				group.live--;
				if (launch !== undefined) group.ended.set(place, { status, description: launch.description });
				tell({
					type: "subagent-job-end",
					subagent,
					status,
					eventCount,
					task_id: taskId,
					...(error === undefined ? {} : { error }),
				});
				await this.#ended(task, end);
			},
			() => group.live--, // suspended, or the store failed: whoever recovers the session goes on with it
		);
		this.#jobs.add(place);
		this.#settleBeforeClose(job.finally(() => this.#jobs.delete(place)));
	}

	/** The task that stands at one of these places; undefined when there is none. */
	async find(places: readonly string[]): Promise<PlacedTask | undefined> {
		for (const place of places) {
			const isOurs = this.#isLasting || this.#known.has(place);
			if (isOurs && (await this.#table.journal.head(place)) !== undefined) return readTaskPlace(place);
		}
		return undefined;
	}

	/** The output was retrieved: a host that keeps tasks for the life of the process keeps them no longer. */
	async retrieved({ place, subagent }: PlacedTask): Promise<void> {
		if (this.#isLasting || !this.#known.delete(place)) return;
		const table = this.#tables.get(subagent)?.();
		if (table !== undefined) await remove(table, table.actor(place));
	}

	/** Goes on with a task that a process left behind, and tells what it left untold. */
	async recover(task: PlacedTask): Promise<"under-way" | "none"> {
		if (!this.#isLasting || this.#jobs.has(task.place)) return "none";
		const state = await readTask(this.#table.journal, task.place, task.runId);
		if (!isSettled(state)) {
			this.start(task);
			return "under-way";
		}
		await this.#ended(task, state);
		return "none";
	}

	/** Tells what may not have been told of a task that is over; of neighbours in one group, once. */
	async retell(task: PlacedTask): Promise<void> {
		if (!this.#isLasting || this.#jobs.has(task.place)) return;
		const state = await readTask(this.#table.journal, task.place, task.runId);
		if (!isSettled(state)) return;
		if (state.status === "error") await this.#tellFailure(task);
		if (this.#retold === task.groupId) return;
		this.#retold = task.groupId;
		await this.#tellGroup(task.parentPlace, task.groupId);
	}

	/** Leaves all tasks as they are. */
	async close(): Promise<void> {
		this.#closing.abort(Object.assign(new Error("The agent was closed."), { stopReason: "suspend" }));
		while (this.#underWay.size > 0) await Promise.all(this.#underWay);
	}

	#settleBeforeClose(work: Promise<unknown>): void {
		// What could not be told is told by the next recovery.
		const settled: Promise<unknown> = work.catch(() => {}).then(() => this.#underWay.delete(settled));
		this.#underWay.add(settled);
	}

	get #isLasting(): boolean {
		return this.#table.background === "durable";
	}

	#group(groupId: string): Group {
		const group = this.#groups.get(groupId) ?? { live: 0, ended: new Map() };
		this.#groups.set(groupId, group);
		return group;
	}

	async #ended(task: PlacedTask, { status }: Pick<TaskEnd, "status">): Promise<void> {
		if (status === "error") await this.#tellFailure(task);
		await this.#tellGroup(task.parentPlace, task.groupId);
	}

	async #tellFailure(task: PlacedTask): Promise<void> {
		const text = reminderText([await this.#describe(task)], "failed");
		await this.#remind(task.parentPlace, `reminder.${task.taskId}`, text);
	}

	/** Tells the successes of a group, if none of it is under way any more. */
	async #tellGroup(parentPlace: string, groupId: string): Promise<void> {
		const group = this.#groups.get(groupId);
		const isUnderWay = (): boolean => group !== undefined && group.live > 0;
		if (isUnderWay() || this.#runs.get(parentPlace)?.runId === groupId) return;
		const { journal } = this.#table;
		if ((await journal.head(parentPlace))?.openRunId === groupId) return;
		const successes: FinishedTask[] = [];
		for (const task of await this.#tasksOf(parentPlace, groupId)) {
			const known = group?.ended.get(task.place);
			const state = known ?? (await readTask(journal, task.place, task.runId));
			if (!isSettled(state)) return;
			if (state.status === "completed")
				successes.push(known === undefined ? await this.#describe(task) : finished(task, known.description));
		}
		if (!isUnderWay()) this.#groups.delete(groupId);
		if (successes.length === 0) return;
		await this.#remind(parentPlace, `reminder.${groupId}`, reminderText(successes, "completed"));
	}

	/** All tasks of a group that are not forgotten. */
	async #tasksOf(parentPlace: string, groupId: string): Promise<readonly PlacedTask[]> {
		const { journal, records } = this.#table;
		const places = new Set(await records?.children.placesOf(groupId));
		for (const subagent of this.#tables.keys()) {
			for await (const place of storeKeysWith(journal, groupPrefix(parentPlace, subagent, groupId)))
				places.add(place);
		}
		return [...places].flatMap((place) => {
			const task = readTaskPlace(place);
			const isOfGroup = task?.parentPlace === parentPlace && task.groupId === groupId;
			return isOfGroup && (this.#isLasting || this.#known.has(place)) ? [task] : [];
		});
	}

	#remind(parentPlace: string, id: string, text: string): Promise<void> {
		return remind(this.#table, parentPlace, id, text, this.#runs.get(parentPlace));
	}

	async #describe(task: PlacedTask): Promise<FinishedTask> {
		const [first] = await this.#table.journal.read(task.place, { limit: 1 });
		const parent = first?.fact.kind === "run.started" ? first.fact.parent : undefined;
		return finished(task, parent?.description);
	}

	/** Tells the parent's run that is under way, if there is one. */
	#tell({ parentPlace }: PlacedTask, launch: Launch | undefined, event: SubagentJobEvent): void {
		const run = this.#runs.get(parentPlace);
		if (run?.watched !== true || run.state.run?.status !== "running") return;
		const { step } = run.state.run;
		run.tell({ type: "nested", ...run.at, step, toolCallId: launch?.toolCallId ?? "", event });
	}
}

function finished({ taskId, subagent }: PlacedTask, description = ""): FinishedTask {
	return { taskId, subagent, description };
}
