// An execution is accepted once: a request that comes again under its idempotency key is what it came to before.
import type { Host } from "holdfast";
import type { ChosenOptions, ExecuteInput, ExecuteSession, SessionSetup } from "holdfast/execute";
import { type Accepted, AcceptedBefore, SeenRequests } from "./seen-requests.ts";
import type { ServedCaller } from "./service-types.ts";

/** What is to be executed. */
export interface WantedExecution {
	readonly input: ExecuteInput;
	readonly options: ChosenOptions;
	/** What the session keeps, as it was just read. */
	readonly setup: SessionSetup;
	readonly idempotencyKey: string | undefined;
	readonly caller: ServedCaller;
}

/** Accepts an execution; durable when it resolves. Rejects as `session.execute()` does, and with `idempotency_key_reused`. */
export async function acceptExecution(
	host: Host,
	session: ExecuteSession,
	{ idempotencyKey, input, ...settings }: WantedExecution,
): Promise<Accepted> {
	if (idempotencyKey === undefined) {
		const { run, after } = await session.execute(input, settings);
		return { runId: run.runId, after, attached: false };
	}
	const requests = new SeenRequests(host, session);
	const request = await requests.of(idempotencyKey, input, settings.options);
	const before = await requests.found(request, input);
	if (before !== undefined) return before;
	const beforeBegin = async (): Promise<void> => {
		const begun = await requests.found(request, input);
		if (begun !== undefined) throw new AcceptedBefore(begun);
	};
	try {
		const { runId } = request;
		const { run, after } = await session.execute(input, { ...settings, runId, beforeBegin });
		return { runId: run.runId, after, attached: false };
	} catch (error) {
		if (error instanceof AcceptedBefore) return error.accepted;
		const elsewhere = await requests.refused(request, input);
		if (elsewhere !== undefined) return elsewhere;
		throw error;
	}
}
