// Where the work of a sub-agent stands, and what tasks in the background are called. All of it lies within the scope of
// the parent session and the sub-agent, whatever a model says.
import { childPlace, readChildPlace } from "../host/index.ts";

const mark = "\u0000";
const task = `${mark}task${mark}`;

/** The session a model names by a suffix; the same suffix goes on with it. */
export function namedPlace(parentPlace: string, subagent: string, suffix: string | undefined): string {
	const named = suffix === undefined || suffix === "" ? "default" : suffix;
	return childPlace(parentPlace, subagent, named.startsWith(mark) ? `${mark}key${mark}${named}` : named);
}

/** The session of one task in the background. */
export function taskPlace(parentPlace: string, subagent: string, taskId: string): string {
	return childPlace(parentPlace, subagent, `${task}${taskId}`);
}

/** A task in the background, as its place tells. */
export interface PlacedTask {
	readonly place: string;
	readonly parentPlace: string;
	readonly subagent: string;
	readonly taskId: string;
	/** The run that does it. */
	readonly runId: string;
	/** The parent's run that started it: tasks of one run are one group. */
	readonly groupId: string;
}

/** What a place says of a task in the background; undefined where none stands. */
export function readTaskPlace(place: string): PlacedTask | undefined {
	const child = readChildPlace(place);
	if (child?.suffix.startsWith(task) !== true) return undefined;
	const { parentPlace, subagent, suffix } = child;
	const taskId = suffix.slice(task.length);
	const runId = taskId.slice(prefix.length);
	return { place, parentPlace, subagent, taskId, runId, groupId: groupOf(runId) };
}

const prefix = "bg_";

/** The id by which a model knows the task that a call started. */
export function taskIdOf(idempotencyKey: string): string {
	return `${prefix}${idempotencyKey}`;
}

/** What the places of a sub-agent's tasks of one group begin with. */
export function groupPrefix(parentPlace: string, subagent: string, groupId: string): string {
	return taskPlace(parentPlace, subagent, `${prefix}${groupId}.`);
}

/** The run within whose calls this one is: keys of calls are `<run>.<answer>.<index>`. */
export function groupOf(idempotencyKey: string): string {
	return idempotencyKey.split(".").slice(0, -2).join(".");
}
