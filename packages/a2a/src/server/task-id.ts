// Ids of tasks. A context is a session, and a task is one of its runs. The id of a task contains the position in the
// journal at which the run starts, so that any process finds it, even after a restart. It is not secret and grants no
// access: a session is only found for its owner.

/** The location of a task. */
export interface TaskPlace {
	readonly contextId: string;
	/** Id of the event with which its run starts. */
	readonly start: string;
}

/** Prefix of the sessions of contexts. */
export const sessionPrefix = "a2a.";

/** Returns the id of a task. */
export function taskIdOf({ contextId, start }: TaskPlace): string {
	return Buffer.from(JSON.stringify([contextId, start])).toString("base64url");
}

/** Returns undefined if the string is not the id of a task. */
export function readTaskId(taskId: string): TaskPlace | undefined {
	if (taskId.length > 500) return undefined;
	let parts: unknown;
	try {
		parts = JSON.parse(Buffer.from(taskId, "base64url").toString());
	} catch {
		return undefined;
	}
	if (!Array.isArray(parts)) return undefined;
	const [contextId, start] = parts;
	if (!isContextId(contextId) || typeof start !== "string" || start === "") return undefined;
	return { contextId, start };
}

/** Whether an id can name a context. */
export function isContextId(value: unknown): value is string {
	return typeof value === "string" && /^[\w-]{1,64}$/.test(value);
}

/** Returns the session of a context. */
export function sessionIdOf(contextId: string): string {
	return sessionPrefix + contextId;
}

/** Returns the context of a session; undefined for sessions without one. */
export function contextOfSession(sessionId: string): string | undefined {
	const contextId = sessionId.slice(sessionPrefix.length);
	return sessionId.startsWith(sessionPrefix) && isContextId(contextId) ? contextId : undefined;
}
