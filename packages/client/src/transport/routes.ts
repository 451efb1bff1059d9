// The routes of the server as functions: one unary call each, or one connection to events. Calls that are safe to repeat
// are repeated here; the code that has the last event resumes connections.

import { ClientError } from "../errors/index.ts";
import type {
	Answer,
	ExecuteContext,
	ExecuteInput,
	ModelOptions,
	SessionInfo,
	SessionPage,
} from "../wire/index.ts";
import { createBackoff } from "./backoff.ts";
import type { Settings } from "./options.ts";
import { invalidResponse, type ReceivedEvent, readEvents } from "./read-events.ts";
import { type Call, type Exchange, send, sendForJson } from "./send.ts";

const root = "/api/agent";

/** The body of an execution. */
export interface ExecuteBody {
	readonly sessionId?: string | undefined;
	readonly input: ExecuteInput;
	readonly context?: ExecuteContext | undefined;
	readonly options?: ModelOptions | undefined;
}

/** A connection that receives events. */
export interface EventConnection {
	/** The session, if the response has its header: other origins may not see it. */
	readonly sessionId: string | undefined;
	readonly events: AsyncGenerator<ReceivedEvent, void, undefined>;
	close(): void;
}

/** Starts an execution, or joins the one that the same key started. */
export function executeCall(body: ExecuteBody, idempotencyKey: string): Call {
	return {
		method: "POST",
		path: `${root}/execute`,
		body: JSON.stringify(body),
		headers: { "idempotency-key": idempotencyKey, accept: "text/event-stream" },
	};
}

/**
 * Which events of a session to read: those after `after`, otherwise all; with `follow` also those of further
 * executions.
 */
export interface EventRange {
	readonly after?: string | undefined;
	readonly follow: boolean;
}

/** Returns the call for the events of a session. */
export function eventsCall(sessionId: string, { after, follow }: EventRange): Call {
	return {
		method: "GET",
		path: `${sessionPath(sessionId)}/events${follow ? "?follow=1" : ""}`,
		headers: { accept: "text/event-stream", ...(after === undefined ? {} : { "last-event-id": after }) },
	};
}

/** Opens a connection to events once, without retries. @throws ClientError `stream_unsupported`, and see `send`. */
export async function openEvents(
	settings: Settings,
	call: Call,
	signal?: AbortSignal,
): Promise<EventConnection> {
	const { response, close } = await send(settings, call, signal);
	const type = response.headers.get("content-type") ?? "";
	if (!type.startsWith("text/event-stream")) {
		close();
		throw invalidResponse(`it is "${type}", not an event stream`);
	}
	if (response.body === null) {
		close();
		throw new ClientError(
			"stream_unsupported",
			"This `fetch` returns no readable stream. Pass one that does to `createClient({ fetch })`; on React Native, use `expo/fetch`.",
		);
	}
	const sessionId = response.headers.get("x-session-id") ?? undefined;
	return { sessionId, events: readEvents(response.body, settings), close };
}

/** Sends answers; resolves when the server has stored them. Watchers see the results. */
export async function sendAnswers(
	settings: Settings,
	sessionId: string,
	answers: readonly Answer[],
	idempotencyKey: string,
): Promise<void> {
	const call = executeCall({ sessionId, input: answers }, idempotencyKey);
	const exchange = await repeatedly(settings, () => send(settings, call));
	exchange.close();
}

/** Returns a session with its history. */
export async function getSession(
	settings: Settings,
	sessionId: string,
	signal?: AbortSignal,
): Promise<SessionInfo> {
	const call: Call = { method: "GET", path: sessionPath(sessionId) };
	return (await repeatedly(settings, () => sendForJson(settings, call, signal), signal)) as SessionInfo;
}

/** Returns a page of sessions. */
export async function listSessions(
	settings: Settings,
	{ after, limit }: { readonly after?: string; readonly limit?: number },
): Promise<SessionPage> {
	const query = [
		...(after === undefined ? [] : [`after=${encodeURIComponent(after)}`]),
		...(limit === undefined ? [] : [`limit=${limit}`]),
	].join("&");
	const call: Call = { method: "GET", path: `${root}/sessions${query === "" ? "" : `?${query}`}` };
	return (await repeatedly(settings, () => sendForJson(settings, call))) as SessionPage;
}

/** Stops the session's activity. Safe to repeat. */
export async function stopSession(settings: Settings, sessionId: string): Promise<{ stopped: boolean }> {
	const call: Call = { method: "POST", path: `${sessionPath(sessionId)}/stop`, body: "{}" };
	return (await repeatedly(settings, () => sendForJson(settings, call))) as { stopped: boolean };
}

/** Deletes a session. */
export async function deleteSession(settings: Settings, sessionId: string): Promise<void> {
	await sendForJson(settings, { method: "DELETE", path: sessionPath(sessionId) });
}

function sessionPath(sessionId: string): string {
	return `${root}/session/${encodeURIComponent(sessionId)}`;
}

/** Repeats a call, which must be safe to repeat, until it succeeds or there were too many attempts. */
export async function repeatedly<T extends Exchange | unknown>(
	settings: Settings,
	attempt: () => Promise<T>,
	signal?: AbortSignal,
): Promise<T> {
	const backoff = createBackoff(settings, signal);
	for (;;) {
		try {
			return await attempt();
		} catch (error) {
			await backoff.afterFailure(error);
		}
	}
}
