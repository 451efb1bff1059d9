// What is asked of a thread from outside its executions, while others may delete it (keeps I4).
import type { Session } from "holdfast";
import { threadNotFound } from "./not-found.ts";
import type { ThreadSystem } from "./system.ts";

/**
 * Asks something of a thread's session. A session that it began after its thread was deleted is removed again.
 * @throws HoldfastError `thread_not_found`.
 */
export async function askSession<Answer>(
	system: ThreadSystem,
	threadId: string,
	ask: (session: Session) => Promise<Answer>,
): Promise<Answer> {
	const answer = await ask(system.session(threadId)).catch((error) => {
		// Nothing else kills the session of a thread.
		throw (error as { readonly code?: unknown }).code === "session_killed" ? threadNotFound(threadId) : error;
	});
	if ((await system.records.get(threadId)) !== undefined) return answer;
	await system.session(threadId).delete();
	throw threadNotFound(threadId);
}
