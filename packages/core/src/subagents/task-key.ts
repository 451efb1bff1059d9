// Store keys of sub-agents' work, and ids of background tasks. All keys stay within the scope of the parent session and
// the sub-agent, for every name that a model may choose.
import { childStoreKey, readChildStoreKey } from "../host/index.ts";

const mark = "\u0000";
const task = `${mark}task${mark}`;

/** Returns the store key of a session that a model names by a suffix. The same suffix always gives the same session. */
export function namedKey(parentKey: string, subagent: string, suffix: string | undefined): string {
	const named = suffix === undefined || suffix === "" ? "default" : suffix;
	return childStoreKey(parentKey, subagent, named.startsWith(mark) ? `${mark}key${mark}${named}` : named);
}

/** Returns the store key of one background task's session. */
export function taskKey(parentKey: string, subagent: string, taskId: string): string {
	return childStoreKey(parentKey, subagent, `${task}${taskId}`);
}

/** A background task, as parsed from its store key. */
export interface BackgroundTask {
	readonly storeKey: string;
	readonly parentKey: string;
	readonly subagent: string;
	readonly taskId: string;
	/** The run that does the work. */
	readonly runId: string;
	/** The parent's run that started it. Tasks of one run form a group. */
	readonly groupId: string;
}

/** Parses a background task's store key; undefined for other keys. */
export function readTaskKey(storeKey: string): BackgroundTask | undefined {
	const child = readChildStoreKey(storeKey);
	if (child?.suffix.startsWith(task) !== true) return undefined;
	const { parentStoreKey: parentKey, subagent, suffix } = child;
	const taskId = suffix.slice(task.length);
	const runId = taskId.slice(prefix.length);
	return { storeKey, parentKey, subagent, taskId, runId, groupId: groupOf(runId) };
}

const prefix = "bg_";

/** Returns the id by which the model refers to the task that a call started. */
export function taskIdOf(idempotencyKey: string): string {
	return `${prefix}${idempotencyKey}`;
}

/** Returns the prefix of the store keys of a sub-agent's tasks. */
export function taskPrefix(parentKey: string, subagent: string): string {
	return taskKey(parentKey, subagent, "");
}

/** Returns the prefix of the store keys of a sub-agent's tasks in one group. */
export function groupPrefix(parentKey: string, subagent: string, groupId: string): string {
	return taskKey(parentKey, subagent, `${prefix}${groupId}.`);
}

/** Returns the run that a call belongs to. Keys of calls are `<run>.<answer>.<index>`. */
export function groupOf(idempotencyKey: string): string {
	return idempotencyKey.split(".").slice(0, -2).join(".");
}
