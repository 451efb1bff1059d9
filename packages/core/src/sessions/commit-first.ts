// The commit that begins or resumes a run, and with it takes the session (keeps I4).
import { CommitFailed, type Run, refusedEnd } from "../engine/index.ts";
import type { Fact } from "../facts/index.ts";
import type { SessionHold } from "./session-hold.ts";

/** What became of it. `taken`: somebody else has taken the session. */
export type FirstCommit = "committed" | "taken" | { readonly refusal: unknown };

/** Commits what begins or resumes a run, which takes the session. With a refusal of policy nothing is committed. */
export function commitFirst(
	hold: SessionHold,
	run: Run,
	facts: readonly Fact[],
	drain: readonly string[] | undefined,
): Promise<FirstCommit> {
	return first(hold, () => run.commit(facts, drain === undefined ? undefined : { drain }));
}

/** Commits the end of a run whose beginning policy refused. These facts say nothing of what was refused. */
export function commitBare(
	hold: SessionHold,
	run: Run,
	facts: readonly Fact[],
	drain: readonly string[] | undefined,
): Promise<FirstCommit> {
	const bare = [...facts, refusedEnd("error")];
	return first(hold, () => run.commitAsIs(bare, drain === undefined ? undefined : { drain }));
}

async function first(hold: SessionHold, commit: () => boolean | Promise<boolean>): Promise<FirstCommit> {
	try {
		const committed = commit();
		if (committed instanceof Promise) await committed;
		return "committed";
	} catch (error) {
		if (!(error instanceof CommitFailed)) return { refusal: error };
		const { cause } = error;
		hold.drop();
		const code = (cause as { code?: unknown } | undefined)?.code;
		if (code === "lease_lost") return "taken";
		// Where nobody has leases the other writer's state need not follow upon ours.
		if (code === "session_conflict") hold.left();
		throw cause;
	}
}
