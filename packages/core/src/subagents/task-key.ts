// Store keys of sub-agents' work, and names of background tasks. All of it lies within the scope of the parent session
// and the sub-agent, for every name a model may choose.
import { childStoreKey, readChildStoreKey } from "../host/index.ts";

const mark = "\u0000";
const task = `${mark}task${mark}`;

/** The session a model names by a suffix; the same suffix is the same session. */
export function namedKey(parentKey: string, subagent: string, suffix: string | undefined): string {
	const named = suffix === undefined || suffix === "" ? "default" : suffix;
	return childStoreKey(parentKey, subagent, named.startsWith(mark) ? `${mark}key${mark}${named}` : named);
}

/** The session of one task in the background. */
export function taskKey(parentKey: string, subagent: string, taskId: string): string {
	return childStoreKey(parentKey, subagent, `${task}${taskId}`);
}

/** A task in the background, as its store key says. */
export interface BackgroundTask {
	readonly storeKey: string;
	readonly parentKey: string;
	readonly subagent: string;
	readonly taskId: string;
	/** The run that does it. */
	readonly runId: string;
	/** The parent's run that started it: tasks of one run are one group. */
	readonly groupId: string;
}

/** The parts of a background task's store key; undefined for other keys. */
export function readTaskKey(storeKey: string): BackgroundTask | undefined {
	const child = readChildStoreKey(storeKey);
	if (child?.suffix.startsWith(task) !== true) return undefined;
	const { parentStoreKey: parentKey, subagent, suffix } = child;
	const taskId = suffix.slice(task.length);
	const runId = taskId.slice(prefix.length);
	return { storeKey, parentKey, subagent, taskId, runId, groupId: groupOf(runId) };
}

const prefix = "bg_";

/** The id by which a model knows the task that a call started. */
export function taskIdOf(idempotencyKey: string): string {
	return `${prefix}${idempotencyKey}`;
}

/** The prefix of the store keys of a sub-agent's tasks. */
export function taskPrefix(parentKey: string, subagent: string): string {
	return taskKey(parentKey, subagent, "");
}

/** The prefix of the store keys of a sub-agent's tasks in one group. */
export function groupPrefix(parentKey: string, subagent: string, groupId: string): string {
	return taskKey(parentKey, subagent, `${prefix}${groupId}.`);
}

/** The run within whose calls this one is: keys of calls are `<run>.<answer>.<index>`. */
export function groupOf(idempotencyKey: string): string {
	return idempotencyKey.split(".").slice(0, -2).join(".");
}
