// Requests to a thread from outside its executions, while it may be deleted concurrently (keeps I4).
import type { Session } from "holdfast";
import { threadNotFound } from "./not-found.ts";
import type { ThreadSystem } from "./system.ts";

/**
 * Sends a request to a thread's session. If it created the session after the thread's deletion, the session is removed
 * again.
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

/**
 * Ends the execution of a thread in any process, and those of the sub-agents that it waits for. An execution that no
 * process has resumed since a restart cannot end them itself. Returns false if none was in progress.
 * @throws HoldfastError `thread_not_found`.
 */
export async function stopThread(system: ThreadSystem, threadId: string): Promise<boolean> {
	const isStopped = await askSession(system, threadId, (session) => session.stop());
	if (!isStopped) return false;
	for (const { id, parent } of await system.records.childrenOf(threadId))
		if (parent?.blocking === true)
			await stopThread(system, id).catch((error) => {
				// The thread was deleted in the meantime.
				if ((error as { readonly code?: unknown }).code !== "thread_not_found") throw error;
			});
	return true;
}
