// Invariants of background work and its notifications at the end: no task is lost, each end is reported once, and no
// notification stays unacknowledged.
import { isFinal, type NotificationRecord, type RunRecord } from "holdfast/execution-host";
import { type SessionHead, type StoredRecord, taskKey } from "holdfast/host";
import { type SessionLife, textOf } from "./ledger.ts";
import type { Users } from "./users.ts";
import type { World } from "./world.ts";

/** Returns a notification that still has to be delivered to an existing session; undefined if there is none. */
export function undelivered(
	{ records }: World,
	{ inputs }: Users,
	sessions: readonly Pick<SessionHead, "key" | "incarnation">[],
): string | undefined {
	const incarnations = new Map(sessions.map(({ key, incarnation }) => [key, incarnation]));
	for (const { value } of records.list("notifications") as readonly { readonly value: unknown }[]) {
		const { sessionKey, idempotencyKey, runId, status, incarnation } = value as NotificationRecord;
		// A notification for a deleted session is never delivered, not even to a new session with its key.
		if (incarnation !== undefined && incarnations.get(sessionKey) !== incarnation) continue;
		// A notification cancelled by a kill is not delivered.
		const run = (records.get({ shelf: "runs", name: runId }) as StoredRecord).value as RunRecord;
		if (isFinal(run.status)) continue;
		const input = inputs.find(({ text }) => text === idempotencyKey);
		// A refused notification need not be scheduled.
		const isAccepted = input === undefined || input.accepted !== undefined;
		if (status !== "acked" && isAccepted)
			return `the notification ${idempotencyKey} of ${sessionKey} is ${status}`;
	}
	return undefined;
}

/**
 * Checks that each task that a session was notified of has ended, and that exactly the session that started it was
 * notified of the end, once.
 */
export function checkBackground(world: World, users: Users): void {
	const { ledger } = world;
	for (const life of ledger.allLives) {
		for (const [taskId, count] of timesReported(remindersOf(life)))
			if (count > 1) ledger.wrong(`${life.key} was notified of ${taskId} ${count} times`);
		checkOwn(life, world);
	}
	for (const { key, taskId, end, word, reported } of launchedTasks(world, users)) {
		if (end === "lost") ledger.wrong(`nothing came of ${taskId}, which ${key} began`);
		if (word === undefined && reported.length > 0) ledger.wrong(`${key} was notified of ${taskId}: ${end}`);
	}
	const missing = unreported(world, users);
	if (missing !== undefined) ledger.wrong(missing);
}

/** Returns a task whose session was not notified of its end; undefined if there is none. */
export function unreported(world: World, users: Users): string | undefined {
	for (const { key, taskId, end, word, reported } of launchedTasks(world, users)) {
		if (word !== undefined && !reported.some((text) => text.includes(word)))
			return `${key} was not notified of ${taskId}: ${end}`;
	}
	return undefined;
}

/** A task that a session started: its end, the name of its outcome, and its reminders. */
interface LaunchedTask {
	readonly key: string;
	readonly taskId: string;
	readonly end: TaskOutcome;
	/** Undefined if such an end triggers no reminder. */
	readonly word: "completed" | "failed" | undefined;
	readonly reported: readonly string[];
}

/** Returns the tasks whose ends have been or must be reported. */
function launchedTasks(world: World, { endings }: Users): readonly LaunchedTask[] {
	return world.ledger.allLives.flatMap((life) => {
		const { key } = life;
		// A kill ends tasks and cancels pending reports.
		if (world.ledger.current(key) !== life || endings.some((ending) => ending.key === key)) return [];
		const reminders = remindersOf(life);
		const launched = launchedIn(life, world).map((taskId): LaunchedTask => {
			const end = endOf(taskId, life, world);
			const word = end === "completed" ? "completed" : end === "error" ? "failed" : undefined;
			const reported = reminders.filter((text) => text.includes(`task_id: ${taskId},`));
			return { key, taskId, end, word, reported };
		});
		// A group with a parked task reports nothing before that task has ended.
		return launched.some(({ end }) => end === "parked") ? [] : launched;
	});
}

/** Notifications of a session's own runs concern their work, never that of an earlier session with its key. */
function checkOwn(life: SessionLife, { ledger }: World): void {
	const isOwn = (runId: string): boolean => ledger.lifeOfRun(runId) === life;
	const own = life.entries.filter(({ runId }) => isOwn(runId));
	for (const taskId of timesReported(remindersOf({ ...life, entries: own })).keys()) {
		const runId = runOf(taskId);
		const begun = ledger.lifeOfRun(runId)?.entries.find((entry) => entry.runId === runId)?.fact;
		const parent = begun?.kind === "run.started" ? begun.parent : undefined;
		if (parent === undefined || !isOwn(parent.runId))
			ledger.wrong(`${life.key} was notified of ${taskId}, which another session began`);
	}
}

function remindersOf({ entries }: SessionLife): readonly string[] {
	return entries.flatMap(({ fact }) => {
		const text = fact.kind === "input" ? textOf(fact.message) : "";
		return text.startsWith("<system-reminder>") ? [text] : [];
	});
}

function timesReported(reminders: readonly string[]): ReadonlyMap<string, number> {
	const times = new Map<string, number>();
	for (const text of reminders)
		for (const [, taskId = ""] of text.matchAll(/task_id: (bg_[^,]+),/g))
			times.set(taskId, (times.get(taskId) ?? 0) + 1);
	return times;
}

/** Returns the ids of the tasks that a session's runs started and did not cancel. */
function launchedIn(life: SessionLife, { ledger }: World): readonly string[] {
	const launched = new Set<string>();
	for (const { fact, runId } of life.entries) {
		if (fact.kind !== "tool.settled" || ledger.lifeOfRun(runId) !== life) continue;
		const result = (fact.result ?? {}) as { task_id?: string; status?: string; subagent?: string };
		if (result.task_id === undefined) continue;
		if (result.status === "running" && result.subagent === undefined) launched.add(result.task_id);
		if (result.status === "cancelled") launched.delete(result.task_id);
	}
	return [...launched];
}

const taskPrefix = "bg_";

/** Returns the id that a model sees for a background run. */
export function taskIdOf(runId: string): string {
	return taskPrefix + runId;
}

function runOf(taskId: string): string {
	return taskId.slice(taskPrefix.length);
}

type TaskOutcome = "completed" | "error" | "aborted" | "killed" | "lost" | "parked";

/** Returns how a task ended, according to its session's journal. */
function endOf(taskId: string, { key }: SessionLife, { ledger }: World): TaskOutcome {
	const runId = runOf(taskId);
	const entries = ledger.current(taskKey(key, "helper", taskId))?.entries ?? [];
	if (entries.at(-1)?.fact.kind === "run.parked") return "parked";
	const ended = entries.find((entry) => entry.runId === runId && entry.fact.kind === "run.ended")?.fact;
	return ended?.kind === "run.ended" ? ended.outcome : "lost";
}
