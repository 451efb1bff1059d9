// Names of calls. The id of a task says where its run is in the journal, so that any process finds it, also after a restart.
// It is no secret and opens nothing: sessions are found for their owner only.

/** Where the run of a call is. */
export interface TaskPlace {
	readonly sessionId: string;
	/** Events after this id are those of the run. */
	readonly after: string;
	/** Milliseconds since the epoch. */
	readonly createdAt: number;
}

const prefix = "mcp.";

/** The id of a task. */
export function taskIdOf({ sessionId, after, createdAt }: TaskPlace): string {
	return Buffer.from(JSON.stringify([sessionId, after, createdAt])).toString("base64url");
}

/** Undefined for what is no id of a task. */
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

/** The id of the session of a call. */
export function sessionIdOf(tool: string, id: string): string {
	return `${prefix}${tool}.${id}`;
}

/** The tool whose call a session is for; undefined for sessions that are not for a call. */
export function toolOfSession(sessionId: string): string | undefined {
	return /^mcp\.([a-zA-Z_][a-zA-Z0-9_-]{0,63})\.[\w-]{1,64}$/.exec(sessionId)?.[1];
}

/** Sorts before the sessions of all calls; those that begin with it are theirs. */
export const sessionPrefix: string = prefix;
