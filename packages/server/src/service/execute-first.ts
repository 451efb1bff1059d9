// The first execution of a session. It creates the session in the commit that starts its run, if the host supports that;
// otherwise it creates the session first. A concurrent creator wins.
import type { ChosenOptions, ExecuteSession, SessionContext } from "holdfast/execute";
import type { WantedExecution } from "./accept-execution.ts";
import { codeOf } from "./client-errors.ts";
import type { Accepted } from "./seen-requests.ts";
import type { ServedCaller } from "./served-key.ts";

type Made = Pick<WantedExecution, "setup" | "isNew">;

/** Errors of a first execution in a session that already exists. */
const notNew: ReadonlySet<unknown> = new Set(["session_exists", "session_not_found"]);

/** Creates a session and accepts its first execution. `created`: whether this call created it. */
export async function executeFirst(
	session: ExecuteSession,
	context: SessionContext,
	about: { readonly options: ChosenOptions; readonly caller: ServedCaller },
	accept: (made: Made) => Promise<Accepted>,
): Promise<Accepted & { readonly created: boolean }> {
	const setup = await session.draft(context, about);
	if (setup !== undefined)
		try {
			const accepted = await accept({ setup, isNew: true });
			// The session of an input that waits, or was accepted before, was created by another server.
			return { ...accepted, created: !accepted.attached && accepted.waitsFor === undefined };
		} catch (error) {
			// The session already has an input: from another server, or from a caller that did not create it this way.
			if (!notNew.has(codeOf(error))) throw error;
		}
	const { created, ...made } = await create(session, context, about.caller);
	return { ...(await accept(made)), created };
}

async function create(
	session: ExecuteSession,
	context: SessionContext,
	caller: ServedCaller,
): Promise<Made & { readonly created: boolean }> {
	try {
		return { setup: await session.create(context, { caller }), created: true };
	} catch (error) {
		// Another server may have created it in the meantime and started a run.
		const setup = codeOf(error) === "session_exists" ? await session.setup() : undefined;
		if (setup === undefined) throw error;
		return { setup, created: false };
	}
}
