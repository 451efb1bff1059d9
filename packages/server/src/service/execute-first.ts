// The first execution of a session. It makes the session in the commit that begins its run, where the host can do so; else
// the session is made before it. Whoever else makes the session meanwhile was first.
import type { ChosenOptions, ExecuteSession, SessionContext } from "holdfast/execute";
import type { WantedExecution } from "./accept-execution.ts";
import { codeOf } from "./client-errors.ts";
import type { Accepted } from "./seen-requests.ts";
import type { ServedCaller } from "./served-key.ts";

type Made = Pick<WantedExecution, "setup" | "isNew">;

/** What a first execution rejects with where the session is not new. */
const notNew: ReadonlySet<unknown> = new Set(["session_exists", "session_not_found"]);

/** Has a session made and its execution accepted. `created`: whether this made it. */
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
			// What waits or was accepted before is in a session that another server has made.
			return { ...accepted, created: !accepted.attached && accepted.waitsFor === undefined };
		} catch (error) {
			// Something was said in it already: by another server, or by who has made no such session of it.
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
		// Another server may have created it meanwhile, and begun.
		const setup = codeOf(error) === "session_exists" ? await session.setup() : undefined;
		if (setup === undefined) throw error;
		return { setup, created: false };
	}
}
