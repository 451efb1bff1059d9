// Drives an execution to its end: follows it, answers its pending calls, sends the answers and follows the result, until
// no call is left to answer here. Other clients may share the session: if they settle calls in the meantime, it continues
// with the remaining ones, or with the session's next activity.

import { ClientError, isClientError } from "../errors/index.ts";
import type { Answerer } from "../tools/index.ts";
import {
	createBackoff,
	type ExecuteBody,
	type Following,
	followExecution,
	followSession,
	getSession,
	type ReceivedEvent,
} from "../transport/index.ts";
import type { Answer, PendingToolCall, SessionInfo } from "../wire/index.ts";
import type { Ending, Tally } from "./tally.ts";

/** The parts of an execution. */
export interface Execution {
	readonly following: Following & { readonly signal: AbortSignal };
	readonly body: ExecuteBody;
	/** Key of the first request; later rounds derive theirs from it. */
	readonly idempotencyKey: string;
	/** Whether the caller chose the key, so that an earlier process may have made progress already. */
	readonly keyIsShared: boolean;
	readonly answerer: Answerer;
	readonly tally: Tally;
}

type Events = AsyncGenerator<ReceivedEvent, void, undefined>;

/** Codes that may mean that another client answered first. */
const settledCodes: ReadonlySet<string> = new Set([
	"no_pending_tool_calls",
	"unknown_tool_call_id",
	"tool_call_settled",
	"tool_result_conflict",
	"tool_result_expired",
	"idempotency_key_reused",
	"session_busy",
]);

/** Yields the events of all rounds. */
export async function* runRounds(execution: Execution): Events {
	const { following, body, idempotencyKey, answerer } = execution;
	const place: Place = { sessionId: body.sessionId ?? "", lastId: undefined };
	yield* gather(followExecution(following, body, idempotencyKey), execution, place);
	for (let round = 1; ; round++) {
		const ending = execution.tally.ending();
		const calls = ending === undefined ? [] : callsOf(ending);
		if (ending === undefined || calls.length === 0) return;
		if (execution.keyIsShared && (await wasAnsweredBefore(execution, place, ending))) {
			yield* rejoin(execution, place);
			continue;
		}
		const found = answerer.answer(place.sessionId, calls);
		const answers = await orAborted(found, following.signal);
		if (answers.length === 0) return;
		yield* handIn(execution, answers, place, `${idempotencyKey}:${round}`);
	}
}

interface Place {
	sessionId: string;
	lastId: string | undefined;
}

async function* gather(events: Events, { tally }: Execution, place: Place): Events {
	for await (const received of events) {
		place.lastId = received.id;
		if (received.event.type === "session_start") place.sessionId = received.event.sessionId;
		tally.add(received.event);
		yield received;
	}
}

/** Whether the calls were answered by an earlier process: a tool must not run again for them. */
async function wasAnsweredBefore(execution: Execution, place: Place, ending: Ending): Promise<boolean> {
	const open = openCalls(await currentSession(execution, place));
	return !callsOf(ending).some(({ id }) => open.has(id));
}

/** Returns the waiting calls of the session and of its background tasks. */
function callsOf({
	status,
	pendingToolCalls = [],
	backgroundToolCalls = [],
}: Ending): readonly PendingToolCall[] {
	return [...(status === "awaiting_tool_execution" ? pendingToolCalls : []), ...backgroundToolCalls];
}

async function* handIn(execution: Execution, answers: readonly Answer[], place: Place, key: string): Events {
	const { following } = execution;
	const backoff = createBackoff(following.settings, following.signal);
	let left = answers;
	for (let attempt = 1; ; attempt++) {
		const body = { sessionId: place.sessionId, input: left };
		const ownKey = attempt === 1 ? key : `${key}.${attempt}`;
		try {
			return yield* gather(followExecution(following, body, ownKey), execution, place);
		} catch (error) {
			if (!isClientError(error) || !settledCodes.has(error.code)) throw error;
			const session = await currentSession(execution, place);
			const open = openCalls(session);
			const rest = left.filter(({ toolCallId }) => open.has(toolCallId));
			// The current run may settle the rest, or wait for it again: the next round decides.
			if (session.status === "running" || rest.length === 0) return yield* rejoin(execution, place);
			if (rest.length === left.length) {
				if (error.code !== "session_busy") throw error;
				const { message, status = 409 } = error;
				await backoff.afterFailure(new ClientError(error.code, message, { status, retryable: true }));
			}
			left = rest;
		}
	}
}

/** Follows the session's activity that this client did not start. */
async function* rejoin(execution: Execution, place: Place): Events {
	const { following, tally } = execution;
	const before = tally.ending();
	yield* gather(
		followSession(following, place.sessionId, { after: place.lastId, follow: false }),
		execution,
		place,
	);
	const after = tally.ending();
	if (after === undefined || after === before) tally.end(endingOf(await currentSession(execution, place)));
}

function currentSession({ following }: Execution, { sessionId }: Place): Promise<SessionInfo> {
	return getSession(following.settings, sessionId, following.signal);
}

function openCalls({ pendingToolCalls = [], backgroundToolCalls = [] }: SessionInfo): ReadonlySet<string> {
	return new Set([...pendingToolCalls, ...backgroundToolCalls].map(({ id }) => id));
}

function endingOf({ status, pendingToolCalls = [], backgroundToolCalls }: SessionInfo): Ending {
	const background = backgroundToolCalls === undefined ? {} : { backgroundToolCalls };
	if (status === "idle" || status === "running")
		return { status: "completed", pendingToolCalls: [], ...background };
	return { status, pendingToolCalls, ...background };
}

function orAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
	return new Promise((resolve, reject) => {
		const cancel = (): void => reject(signal.reason);
		if (signal.aborted) cancel();
		signal.addEventListener("abort", cancel, { once: true });
		work.then(resolve, reject).finally(() => signal.removeEventListener("abort", cancel));
	});
}
