// Ids of calls. The id of a task contains the position of its run in the journal, so that any process finds it, even
// after a restart. It is not secret and grants no access: a session is only found for its owner.

/** The location of a call's run. */
export interface TaskPlace {
	readonly sessionId: string;
	/** The run's events come after this id. */
	readonly after: string;
	/** Milliseconds since the epoch. */
	readonly createdAt: number;
}

const prefix = "mcp.";

/** Returns the id of a task. */
export function taskIdOf({ sessionId, after, createdAt }: TaskPlace): string {
	return Buffer.from(JSON.stringify([sessionId, after, createdAt])).toString("base64url");
}

/** Returns undefined if the value is not the id of a task. */
export function readTaskId(taskId: unknown): TaskPlace | undefined {
	if (typeof taskId !== "string" || taskId.length > 1000) return undefined;
	let parts: unknown;
	try {
		parts = JSON.parse(Buffer.from(taskId, "base64url").toString());
	} catch {
		return undefined;
	}
	if (!Array.isArray(parts)) return undefined;
	const [sessionId, after, createdAt] = parts;
	if (typeof sessionId !== "string" || typeof after !== "string" || !Number.isSafeInteger(createdAt))
		return undefined;
	if (toolOfSession(sessionId) === undefined || Math.abs(createdAt) > 8.64e15) return undefined;
	return { sessionId, after, createdAt };
}

/** Returns the id of the session of a call. */
export function sessionIdOf(tool: string, id: string): string {
	return `${prefix}${tool}.${id}`;
}

/** Returns the tool whose call a session is for; undefined for other sessions. */
export function toolOfSession(sessionId: string): string | undefined {
	return /^mcp\.([a-zA-Z_][a-zA-Z0-9_-]{0,63})\.[\w-]{1,64}$/.exec(sessionId)?.[1];
}

/** The prefix of the sessions of all calls. */
export const sessionPrefix: string = prefix;
