// The built-in runner: it runs the loop on the engine.
import { HoldfastError } from "@holdfast/upp";
import type { AgentResult, Runner, RunnerSession } from "../contract/index.ts";
import { Session } from "./session.ts";

/** Runs sessions with the loop on the engine, and aborts them by id. */
export class DefaultRunner implements Runner {
	readonly #running = new Map<string, Session>();

	/** Rejects with `SESSION_NOT_FOUND` for a session that no agent created. */
	async run(session: RunnerSession): Promise<AgentResult> {
		if (!(session instanceof Session)) throw notFound(session?.id);
		this.#running.set(session.id, session);
		try {
			return await session.drive();
		} finally {
			this.#running.delete(session.id);
		}
	}

	/** Rejects with `SESSION_NOT_FOUND` for a session that is not running. */
	async abort(sessionId: string): Promise<void> {
		const session = this.#running.get(sessionId);
		if (session === undefined) throw notFound(sessionId);
		session.interrupt();
	}
}

function notFound(sessionId: string): HoldfastError {
	return new HoldfastError("SESSION_NOT_FOUND", `No session ${JSON.stringify(sessionId)} is running.`);
}
