// Whatever an AI SDK model throws or streams as an error, as a UPPError with one of our codes. Errors are judged
// by their shape, since each provider package brings its own copy of the classes.

import { ErrorCode, isUPPError, UPPError } from "../errors/index.ts";
import { retryAfterMs } from "./retry-after.ts";

interface Fault {
	name: string;
	message: string;
	statusCode: number | undefined;
	/** The provider's own word for it, such as `overloaded_error`. */
	type: string;
	body: string;
	/** Whether the provider says when to come back. */
	waits: boolean;
}

/** Turns what was thrown into a UPPError; one that is a UPPError already stays itself. */
export function toUPPError(thrown: unknown, provider: string): UPPError {
	if (isUPPError(thrown)) return thrown;
	const wait = retryAfterMs(thrown);
	const fault: Fault = { ...readFault(thrown), waits: wait !== undefined };
	const network = fault.statusCode === undefined || fault.statusCode < 300 ? isNetworkFault(thrown) : false;
	const code = network ? ErrorCode.NETWORK_ERROR : codeOf(fault);
	const statusCode = fault.statusCode ?? statusOfType(fault.type);
	const message = network
		? networkMessage(thrown)
		: fault.message || "The model call failed without a message.";
	const error = new UPPError(message, code, provider, "llm", statusCode, thrown);
	if (wait !== undefined) error.retryAfterMs = wait;
	const requestId = requestIdOf(thrown);
	if (requestId !== undefined) error.requestId = requestId;
	return error;
}

/** The headers in which providers name a request. */
const requestIdHeaders = ["x-request-id", "request-id", "x-amzn-requestid", "apim-request-id"];

function requestIdOf(thrown: unknown): string | undefined {
	const { responseHeaders, data } = asRecord(thrown);
	const headers = asRecord(responseHeaders);
	const given = [...requestIdHeaders.map((name) => headers[name]), asRecord(data).request_id];
	return given.map(text).find((id) => /^[\w.:=/+-]{1,200}$/.test(id));
}

function codeOf(fault: Fault): ErrorCode {
	const { name, type } = fault;
	const words = `${fault.message} ${fault.body}`;
	if (name === "AbortError") return ErrorCode.CANCELLED;
	if (name === "AI_LoadAPIKeyError") return ErrorCode.AUTHENTICATION_FAILED;
	if (name === "AI_NoSuchModelError") return ErrorCode.MODEL_NOT_FOUND;
	if (isOutOfQuota(fault, words)) return ErrorCode.QUOTA_EXCEEDED;
	if (isTooLong(fault, words)) return ErrorCode.CONTEXT_LENGTH_EXCEEDED;
	if (/^content_(filter|policy)/i.test(type)) return ErrorCode.CONTENT_FILTERED;
	const status = fault.statusCode ?? statusOfType(type);
	if (status !== undefined && status >= 300) return codeOfStatus(status, words);
	if (/^AI_(InvalidPrompt|InvalidArgument|UnsupportedFunctionality|LoadSetting)/.test(name))
		return ErrorCode.INVALID_REQUEST;
	if (/^AI_(JSONParse|TypeValidation|InvalidResponseData|EmptyResponseBody|NoContentGenerated)/.test(name)) {
		return ErrorCode.INVALID_RESPONSE;
	}
	return name === "AI_APICallError" && status !== undefined
		? ErrorCode.INVALID_RESPONSE
		: ErrorCode.PROVIDER_ERROR;
}

// Providers speak of plans and billing in mere rate limits too; those come with a time to wait.
function isOutOfQuota({ type, waits }: Fault, words: string): boolean {
	return type === "insufficient_quota" || (!waits && /billing|credit balance/i.test(words));
}

function isTooLong({ statusCode }: Fault, words: string): boolean {
	if (statusCode === 429) return false;
	return /context.?(length|window)|maximum context|prompt is too long|too many (input )?tokens|maximum number of tokens/i.test(
		words,
	);
}

function codeOfStatus(status: number, words: string): ErrorCode {
	switch (status) {
		case 401:
		case 403:
			return ErrorCode.AUTHENTICATION_FAILED;
		case 402:
			return ErrorCode.QUOTA_EXCEEDED;
		case 404:
			return ErrorCode.MODEL_NOT_FOUND;
		case 408:
			return ErrorCode.TIMEOUT;
		case 413:
			return ErrorCode.CONTEXT_LENGTH_EXCEEDED;
		case 429:
			return ErrorCode.RATE_LIMITED;
		case 400:
			return /api.?key/i.test(words) ? ErrorCode.AUTHENTICATION_FAILED : ErrorCode.INVALID_REQUEST;
		default:
			return status >= 500 || status === 409 ? ErrorCode.PROVIDER_ERROR : ErrorCode.INVALID_REQUEST;
	}
}

// Errors inside a stream come with a word and without a status: this is the status they would have had.
function statusOfType(type: string): number | undefined {
	switch (type) {
		case "overloaded_error":
			return 529;
		case "api_error":
		case "server_error":
		case "INTERNAL":
			return 500;
		case "UNAVAILABLE":
			return 503;
		case "rate_limit_error":
		case "rate_limit_exceeded":
		case "RESOURCE_EXHAUSTED":
			return 429;
		case "authentication_error":
			return 401;
		case "permission_error":
			return 403;
		case "not_found_error":
			return 404;
		case "request_too_large":
			return 413;
		case "invalid_request_error":
			return 400;
		default:
			return undefined;
	}
}

function readFault(thrown: unknown): Omit<Fault, "waits"> {
	if (typeof thrown === "string")
		return { name: "", message: thrown, statusCode: undefined, type: "", body: "" };
	const error = asRecord(thrown);
	// Providers wrap what they say in `error`, the SDK wraps that in `data`.
	const inner = asRecord(error.error);
	const wrapped = asRecord(asRecord(error.data).error);
	const status = error.statusCode ?? inner.statusCode;
	return {
		name: text(error.name),
		message: text(error.message) || text(inner.message),
		statusCode: typeof status === "number" ? status : undefined,
		type:
			[
				wrapped.code,
				wrapped.type,
				wrapped.status,
				inner.code,
				inner.type,
				inner.status,
				error.code,
				error.type,
			]
				.map(text)
				.find((word) => word !== "" && (statusOfType(word) !== undefined || /quota|content_/.test(word))) ??
			"",
		body: text(error.responseBody),
	};
}

const networkWords =
	/fetch failed|network|terminated|socket|ECONN|EPIPE|ENOTFOUND|EAI_AGAIN|ETIMEDOUT|UND_ERR|other side closed|premature close|cannot connect|without a finish reason/i;

function isNetworkFault(thrown: unknown): boolean {
	let error: unknown = thrown;
	for (let depth = 0; depth < 5 && error !== undefined && error !== null; depth++) {
		const { message, code, name } = asRecord(error);
		if (name !== "AI_APICallError" || /cannot connect/i.test(text(message))) {
			if (networkWords.test(`${text(message)} ${text(code)}`)) return true;
		}
		error = asRecord(error).cause;
	}
	return false;
}

// The SDK wraps what broke in "Failed to process successful response", which says nothing.
function networkMessage(thrown: unknown): string {
	let error = asRecord(thrown);
	while (typeof error.cause === "object" && error.cause !== null) error = asRecord(error.cause);
	return `The connection to the provider failed: ${text(error.message) || text(error.code) || "no reason given"}`;
}

function text(value: unknown): string {
	return typeof value === "string" ? value : "";
}

function asRecord(value: unknown): Record<string, unknown> {
	return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
}
