// Routes that read sessions, follow them, stop them and delete them.
import { HoldfastError } from "holdfast";
import type { Exchange } from "../exchange.ts";
import type { Route } from "../http/index.ts";
import { answerJson, isSessionId, sessionIdOfPath } from "../http/index.ts";
import { eventStream, json, reference } from "../openapi/index.ts";

const mostSessions = 100;
/** The codes of an invalid body on routes that need none. */
const bodyErrors = ["unsupported_media_type", "body_too_large", "invalid_json", "invalid_input"] as const;

/** A session with its messages. */
export const session: Route = {
	method: "GET",
	path: "/api/agent/session/:id",
	name: "getSession",
	summary: "A session: its status, messages, cost, pending tool calls and last event id.",
	answers: { 200: json("The session.", reference("Session")) },
	errors: ["session_not_found"],
	async handle(exchange) {
		const sessionId = named(exchange);
		const found = await exchange.service.get(exchange.caller, sessionId);
		if (found === undefined) throw new HoldfastError("session_not_found", "Session not found");
		return answerJson(found);
	},
};

/** Streams a session's events from any position. */
export const events: Route = {
	method: "GET",
	path: "/api/agent/session/:id/events",
	name: "followSession",
	summary: "The events of a session after the last one seen, then live ones until the run has ended.",
	parameters: [
		{
			in: "header",
			name: "Last-Event-ID",
			description: "The id of the last event seen; it takes precedence over `after`.",
			schema: { type: "string" },
		},
		{
			in: "query",
			name: "after",
			description: "The id of the last event seen, for the first request of a browser's EventSource.",
			schema: { type: "string" },
		},
		{
			in: "query",
			name: "follow",
			description: "`1` keeps the stream open after the run has ended, for the runs that follow.",
			schema: { type: "string", enum: ["0", "1"] },
		},
	],
	answers: { 200: eventStream },
	errors: ["session_not_found", "invalid_event_id", "events_expired", "invalid_input"],
	handle(exchange) {
		const sessionId = named(exchange);
		// A stream without a reader would stay open.
		if (exchange.request.method === "HEAD")
			throw new HoldfastError("method_not_allowed", "A stream has no HEAD. Use GET.", {
				data: { allow: "GET" },
			});
		const after = exchange.lastEventId();
		return exchange.streamEvents(sessionId, after, isFollowing(exchange) ? "never" : "idle");
	},
};

/** Stops the session's activity. */
export const stop: Route = {
	method: "POST",
	path: "/api/agent/session/:id/stop",
	name: "stopSession",
	summary: "Aborts the active run or settles pending tool calls; harmless when there is nothing to stop.",
	answers: {
		200: json("Whether there was something to stop.", {
			type: "object",
			required: ["sessionId", "stopped"],
			properties: { sessionId: { type: "string" }, stopped: { type: "boolean" } },
		}),
	},
	errors: ["session_not_found", ...bodyErrors],
	async handle(exchange) {
		const sessionId = named(exchange);
		await exchange.readNothing();
		const { stopped } = await exchange.service.stop(exchange.caller, sessionId);
		return answerJson({ sessionId, stopped });
	},
};

/** Deletes a session. */
export const remove: Route = {
	method: "DELETE",
	path: "/api/agent/session/:id",
	name: "deleteSession",
	summary: "Stops a session's work and removes the session; its streams end.",
	answers: {
		200: json("It is removed.", {
			type: "object",
			required: ["sessionId", "deleted"],
			properties: { sessionId: { type: "string" }, deleted: { const: true } },
		}),
	},
	errors: ["session_not_found", ...bodyErrors],
	async handle(exchange) {
		const sessionId = named(exchange);
		await exchange.readNothing();
		await exchange.delete(sessionId);
		return answerJson({ sessionId, deleted: true });
	},
};

/** Lists the caller's sessions. */
export const sessions: Route = {
	method: "GET",
	path: "/api/agent/sessions",
	name: "listSessions",
	summary: "Lists the caller's sessions, one page at a time: those of the user, or of the tenant.",
	parameters: [
		{ in: "query", name: "after", description: "`next` of the previous page.", schema: { type: "string" } },
		{
			in: "query",
			name: "limit",
			description: "Maximum number of sessions on a page.",
			schema: { type: "integer", minimum: 1, maximum: mostSessions, default: 50 },
		},
	],
	answers: { 200: json("A page of sessions.", reference("SessionPage")) },
	errors: ["invalid_input"],
	async handle(exchange) {
		const after = exchange.query("after");
		if (after !== undefined && !isSessionId(after))
			throw new HoldfastError("invalid_input", "`after` must be `next` of the previous page.", {
				data: { field: "after" },
			});
		const limit = limitOf(exchange);
		const page = await exchange.service.list(exchange.caller, {
			limit,
			...(after === undefined ? {} : { after }),
		});
		return answerJson(page);
	},
};

function named(exchange: Exchange): string {
	const sessionId = sessionIdOfPath(exchange.parameter("id"));
	exchange.notes.sessionId = sessionId;
	return sessionId;
}

function isFollowing(exchange: Exchange): boolean {
	const value = exchange.query("follow") ?? "0";
	if (value === "0" || value === "1") return value === "1";
	throw new HoldfastError("invalid_input", "`follow` must be 0 or 1.", { data: { field: "follow" } });
}

function limitOf(exchange: Exchange): number {
	const text = exchange.query("limit") ?? "50";
	const limit = Number(text);
	if (/^\d{1,4}$/.test(text) && limit >= 1 && limit <= mostSessions) return limit;
	throw new HoldfastError("invalid_input", `\`limit\` must be a number from 1 to ${mostSessions}.`, {
		data: { field: "limit" },
	});
}
