// Names of tasks. A context is a session, a task is a run of it; the id of a task says where the run begins in the journal, so that
// any process finds it, also after a restart. It is no secret and opens nothing: sessions are found for their owner only.

/** Where a task is. */
export interface TaskPlace {
	readonly contextId: string;
	/** Id of the event with which its run begins. */
	readonly start: string;
}

/** Sessions of contexts begin with it. */
export const sessionPrefix = "a2a.";

/** The id of a task. */
export function taskIdOf({ contextId, start }: TaskPlace): string {
	return Buffer.from(JSON.stringify([contextId, start])).toString("base64url");
}

/** Undefined for what is no id of a task. */
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

/** The session of a context. */
export function sessionIdOf(contextId: string): string {
	return sessionPrefix + contextId;
}

/** The context of a session; undefined for sessions of no context. */
export function contextOfSession(sessionId: string): string | undefined {
	const contextId = sessionId.slice(sessionPrefix.length);
	return sessionId.startsWith(sessionPrefix) && isContextId(contextId) ? contextId : undefined;
}
