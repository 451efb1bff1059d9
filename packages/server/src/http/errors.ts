// Turns an error into a response: its code decides the status, and only errors meant for the caller keep their message.
// Everything else is `internal_error`, without details (keeps I9).
import { HoldfastError, isHoldfastError } from "holdfast";
import { isUnreadable } from "holdfast/host";

/** The status of every code that a caller may see. */
export const statusByCode: ReadonlyMap<string, number> = new Map([
	["invalid_json", 400],
	["invalid_input", 400],
	// For a tool that the caller declared.
	["invalid_schema", 400],
	["invalid_request", 400],
	["context_required", 400],
	["unknown_model", 400],
	["forbidden_option", 400],
	["too_many_messages", 400],
	["too_many_tools", 400],
	["field_not_allowed", 403],
	["tool_name_conflict", 400],
	["duplicate_input", 409],
	["duplicate_message", 409],
	["duplicate_tool_result", 400],
	["invalid_event_id", 400],
	["unauthorized", 401],
	["host_not_allowed", 403],
	["origin_not_allowed", 403],
	["session_not_found", 404],
	["route_not_found", 404],
	["method_not_allowed", 405],
	["inspector_closed", 403],
	["run_not_found", 404],
	["session_busy", 409],
	["session_exists", 409],
	["session_held", 409],
	["fork_unsettled", 409],
	["unknown_message", 409],
	["pending_tool_calls", 409],
	["no_pending_tool_calls", 409],
	["unknown_tool_call_id", 409],
	["tool_call_settled", 409],
	["tool_result_conflict", 409],
	["tool_result_expired", 409],
	["idempotency_key_reused", 409],
	["workflow_not_running", 409],
	["events_expired", 410],
	["changes_expired", 410],
	["body_too_large", 413],
	["value_too_large", 413],
	["unsupported_media_type", 415],
	["inbox_full", 429],
	["workflow_events_full", 429],
	["rate_limited", 429],
	["internal_error", 500],
	["journal_corrupt", 500],
	["journal_newer", 500],
	["shutting_down", 503],
]);

/** An error in the form of a response. */
export interface Refusal {
	/** The HTTP status. */
	readonly status: number;
	/** The code of the error. */
	readonly code: string;
	/** The message that the client may read. */
	readonly message: string;
	/** Headers that belong to the error, such as `retry-after`. */
	readonly headers: Readonly<Record<string, string>>;
}

/** Returns the response that a caller gets for an error. */
export function refusalOf(given: unknown, statuses: Readonly<Record<string, number>> = {}): Refusal {
	const error = forCallers(given, statuses);
	const status = isHoldfastError(error)
		? (statusByCode.get(error.code) ??
			(Object.hasOwn(statuses, error.code) ? statuses[error.code] : undefined))
		: undefined;
	const known =
		status !== undefined && isHoldfastError(error)
			? error
			: new HoldfastError("internal_error", "The server failed. Try again, and see its log.", {
					retryable: true,
				});
	return {
		status: status ?? 500,
		code: known.code,
		message: known.message,
		headers: headersOf(known),
	};
}

/** Returns an error without what only operators may see. */
function forCallers(error: unknown, statuses: Readonly<Record<string, number>>): unknown {
	if (!isHoldfastError(error)) return error;
	// Callers learn nothing about the servers behind this one except whether to try another server.
	if (error.code === "agent_closed") return shuttingDown();
	// The message may name files and keys of the store.
	if (isUnreadable(error) && !Object.hasOwn(statuses, error.code))
		return new HoldfastError(
			error.code,
			"The stored data cannot be read. Repeating the request does not help. The server's log contains the cause.",
		);
	return error;
}

/** This server starts nothing new. */
export function shuttingDown(): HoldfastError {
	return new HoldfastError("shutting_down", "The server is shutting down. Send the request again.", {
		retryable: true,
		data: { retryAfterMs: 2000 },
	});
}

/** Returns the response to a refused request. */
export function refuse({ status, code, message, headers }: Refusal): Response {
	return answerJson({ error: message, code }, { status, headers });
}

/** Returns a JSON response; no cache between the server and the caller stores it. */
export function answerJson(
	value: unknown,
	options: { readonly status?: number; readonly headers?: Readonly<Record<string, string>> } = {},
): Response {
	return new Response(JSON.stringify(value), {
		status: options.status ?? 200,
		headers: {
			"content-type": "application/json; charset=utf-8",
			"cache-control": "no-store",
			...options.headers,
		},
	});
}

function headersOf({ code, data }: HoldfastError): Record<string, string> {
	const headers: Record<string, string> = {};
	const after = data?.retryAfterMs;
	if (typeof after === "number") headers["retry-after"] = String(Math.max(1, Math.ceil(after / 1000)));
	if (code === "unauthorized") headers["www-authenticate"] = 'Bearer realm="holdfast"';
	if (code === "method_not_allowed" && typeof data?.allow === "string") headers.allow = data.allow;
	// The next request should go to another server. A request that is too large is not cut off, because its sender would
	// miss the response.
	if (code === "shutting_down") headers.connection = "close";
	return headers;
}
