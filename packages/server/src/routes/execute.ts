// Routes that request a run and stream it: a message, tool results, or an approval decision.
import { cutText } from "@holdfast/upp";
import { HoldfastError, isHoldfastError } from "holdfast";
import type { Exchange } from "../exchange.ts";
import type { JsonObject, Route } from "../http/index.ts";
import { idempotencyKeyOf, newSessionId, sessionIdOfBody, sessionIdOfPath } from "../http/index.ts";
import { reference, runStream } from "../openapi/index.ts";
import type { ExecuteRequest, Submitted } from "../service/index.ts";

/** The header that names a request, so that a repeated one is recognised. */
export const idempotencyKey = {
	in: "header",
	name: "Idempotency-Key",
	description: "A repeat with the same key attaches to the first execution instead of starting another.",
	schema: { type: "string", minLength: 1, maxLength: 255 },
} as const;

/** The codes of invalid inputs. */
export const executeErrors = [
	"invalid_json",
	"invalid_input",
	"body_too_large",
	"value_too_large",
	"unsupported_media_type",
	"session_busy",
	"inbox_full",
	"workflow_not_running",
	"workflow_events_full",
	"pending_tool_calls",
	"no_pending_tool_calls",
	"unknown_tool_call_id",
	"tool_call_settled",
	"tool_result_conflict",
	"tool_result_expired",
	"duplicate_input",
	"duplicate_tool_result",
	"idempotency_key_reused",
] as const;

/** The codes of fields that clients may not set, or not to that extent. */
export const fieldErrors = ["field_not_allowed", "too_many_messages", "too_many_tools"] as const;

const members: ReadonlySet<string> = new Set(["sessionId", "input", "context", "options"]);

/** Sends an input to a new or existing session, and streams the execution. */
export const execute: Route = {
	method: "POST",
	path: "/api/agent/execute",
	name: "execute",
	summary: "Sends a message or tool results to a session and streams the execution.",
	parameters: [idempotencyKey],
	body: reference("ExecuteRequest"),
	answers: { 200: runStream },
	errors: [
		...executeErrors,
		...fieldErrors,
		"invalid_schema",
		"context_required",
		"unknown_model",
		"forbidden_option",
		"tool_name_conflict",
	],
	async handle(exchange) {
		const body = await exchange.readJson();
		refuseUnknown(body, members);
		if (body.input === undefined)
			throw new HoldfastError("invalid_input", "`input` is missing. Send a user message or tool results.", {
				data: { field: "input" },
			});
		const key = idempotencyKeyOf(exchange.request.headers);
		const given = sessionIdOfBody(body.sessionId);
		const sessionId = given ?? (await newSessionId(exchange.caller, key));
		const { input, options } = body;
		// A request without an id creates a new session. One with an id may refer to a session that was deleted.
		const isComplete = body.sessionId === undefined && exchange.service.clients === undefined;
		const context = body.context ?? (isComplete ? {} : undefined);
		return exchange.streamRun(
			await exchange.submit(
				sessionId,
				{
					input,
					...(context === undefined ? {} : { context }),
					...(options === undefined ? {} : { options }),
					// With a key, the id may belong to a session that an earlier request created.
					...(given === undefined && key === undefined ? { isNew: true } : {}),
				},
				key,
			),
		);
	},
};

/** Approves a waiting call. */
export const approve: Route = {
	...answerRoute("approve", "Lets a tool call run that waits for approval, and streams the execution."),
	handle: (exchange) => answer(exchange, { approved: true }),
};

/** Denies a call that waits for approval. */
export const deny: Route = {
	...answerRoute("deny", "Refuses a tool call that waits for approval, and streams the execution."),
	handle: (exchange) => answer(exchange, { approved: false }),
};

function answerRoute(name: string, summary: string): Omit<Route, "handle"> {
	return {
		method: "POST",
		path: `/api/agent/session/:id/${name}`,
		name,
		summary,
		parameters: [idempotencyKey],
		body: reference("ApprovalRequest"),
		answers: { 200: runStream },
		errors: [...executeErrors, "session_not_found"],
	};
}

async function answer(exchange: Exchange, decision: { readonly approved: boolean }): Promise<Response> {
	const sessionId = sessionIdOfPath(exchange.parameter("id"));
	const body = await exchange.readJson();
	refuseUnknown(body, new Set(["toolCallId", "runId", "reason"]));
	const toolCallId = textOf(body, "toolCallId");
	if (toolCallId === undefined)
		throw new HoldfastError("invalid_input", "`toolCallId` is missing. Name the call that waits.", {
			data: { field: "toolCallId" },
		});
	const runId = textOf(body, "runId");
	const reason = textOf(body, "reason");
	const key = idempotencyKeyOf(exchange.request.headers);
	const about = { toolCallId, ...(runId === undefined ? {} : { runId }) };
	const input = [{ role: "approval", ...about, ...decision, ...(reason === undefined ? {} : { reason }) }];
	return exchange.streamRun(await submitToKnown(exchange, sessionId, { input }, key));
}

/**
 * Requests a run in an existing session.
 * @throws HoldfastError `session_not_found`, and the errors of `submit`.
 */
export async function submitToKnown(
	exchange: Exchange,
	sessionId: string,
	request: ExecuteRequest,
	key: string | undefined,
): Promise<Submitted> {
	try {
		return await exchange.submit(sessionId, request, key);
	} catch (error) {
		// Without a context, only an existing session can be continued.
		if (isHoldfastError(error) && error.code === "context_required")
			throw new HoldfastError("session_not_found", "Session not found");
		throw error;
	}
}

function textOf(body: JsonObject, field: string): string | undefined {
	const value = body[field];
	if (value === undefined || (typeof value === "string" && value !== "")) return value;
	throw new HoldfastError("invalid_input", `\`${field}\` must be a string that is not empty.`, {
		data: { field },
	});
}

/** A misspelt member would be ignored silently, so it is refused. */
function refuseUnknown(body: JsonObject, known: ReadonlySet<string>): void {
	const unknown = Object.keys(body).find((name) => !known.has(name));
	if (unknown === undefined) return;
	throw new HoldfastError(
		"invalid_input",
		`The body has a member "${cutText(unknown, 40)}" that is unknown. Known members: ${[...known].join(", ")}.`,
		{ data: { field: cutText(unknown, 40) } },
	);
}
