// Accepts an execution once: a request that is repeated under its idempotency key gets the earlier outcome. An input that
// arrives during a run is refused, waits for the run, or enters it.
import type { Host } from "holdfast";
import type {
	ChosenOptions,
	ExecuteInput,
	ExecuteSession,
	ExecuteSettings,
	SessionSetup,
} from "holdfast/execute";
import { codeOf } from "./client-errors.ts";
import { type Accepted, SeenRequests } from "./seen-requests.ts";
import type { ServedCaller } from "./served-key.ts";
import type { WhileRunning } from "./service-types.ts";

/** The requested execution. */
export interface WantedExecution {
	readonly input: ExecuteInput;
	readonly options: ChosenOptions;
	/** The session's setup, as just read or created. */
	readonly setup: SessionSetup;
	/** Whether this creates the session. */
	readonly isNew?: boolean;
	readonly idempotencyKey: string | undefined;
	readonly messageId?: string | undefined;
	readonly insteadOf?: string | undefined;
	readonly whileRunning: WhileRunning;
	readonly whilePending?: "refuse" | "queue" | undefined;
	readonly caller: ServedCaller;
}

/**
 * Accepts an execution, which is durable when this resolves. Rejects as `session.execute()` does, and with
 * `idempotency_key_reused`.
 */
export async function acceptExecution(
	host: Host,
	session: ExecuteSession,
	{ idempotencyKey, input, whileRunning, whilePending, ...settings }: WantedExecution,
): Promise<Accepted> {
	const during = { whileRunning, whilePending };
	if (idempotencyKey === undefined) return accept(session, input, settings, during);
	const { options, insteadOf } = settings;
	const requests = new SeenRequests(host, session);
	const request = await requests.of(idempotencyKey, input, { ...options, ...(insteadOf && { insteadOf }) });
	const before = await requests.found(request, input);
	if (before !== undefined) return before;
	const { runId, dedupeKey } = request;
	try {
		return await accept(session, input, { ...settings, runId, dedupeKey }, during);
	} catch (error) {
		const elsewhere = await requests.refused(request, input, error);
		if (elsewhere !== undefined) return elsewhere;
		throw error;
	}
}

async function accept(
	session: ExecuteSession,
	input: ExecuteInput,
	settings: ExecuteSettings,
	{ whileRunning, whilePending }: Pick<WantedExecution, "whileRunning" | "whilePending">,
): Promise<Accepted> {
	try {
		const { run, after, over, inBackground } = await session.execute(input, settings);
		const accepted = { runId: run.runId, after, attached: false, over };
		return inBackground === undefined ? accepted : { ...accepted, inBackground };
	} catch (error) {
		const code = codeOf(error);
		const isPending = code === "pending_tool_calls";
		// An input that replaces history cannot wait: the message it replaces may change in the meantime.
		const mayWait = input.kind === "message" && settings.insteadOf === undefined;
		const waits = isPending ? whilePending === "queue" : code === "session_busy" && whileRunning !== "refuse";
		if (!waits || !mayWait) throw error;
		// An input never enters a run that waits for answers to its calls.
		if (isPending || whileRunning === "queue") {
			const { runId, after, enters = runId } = await session.enqueue(input.input, settings);
			return { runId, after, attached: false, waitsFor: enters };
		}
		// A repeated request is recognised by the id of its message.
		const messageId = settings.runId ?? settings.messageId ?? crypto.randomUUID();
		const { runId, after } = await session.steer(input.input, { ...settings, messageId });
		return { runId, after, attached: false, waitsFor: messageId };
	}
}
