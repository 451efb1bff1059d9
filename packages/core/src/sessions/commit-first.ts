// The commit that begins or resumes a run, and with it takes the session (keeps I4).
import { CommitFailed, type Run } from "../engine/index.ts";
import type { Fact } from "../facts/index.ts";
import type { SessionHold } from "./session-hold.ts";

/** Commits what begins or resumes a run, which takes the session. False when somebody else has taken it. */
export async function commitFirst(
	hold: SessionHold,
	run: Run,
	facts: readonly Fact[],
	drain: readonly string[] | undefined,
): Promise<boolean> {
	try {
		const committed = run.commit(facts, drain === undefined ? undefined : { drain });
		if (committed instanceof Promise) await committed;
		return true;
	} catch (error) {
		const cause = error instanceof CommitFailed ? error.cause : error;
		hold.drop();
		const code = (cause as { code?: unknown } | undefined)?.code;
		if (code === "lease_lost") return false;
		// Where nobody has leases the other writer's state need not follow upon ours.
		if (code === "session_conflict") hold.left();
		throw cause;
	}
}
