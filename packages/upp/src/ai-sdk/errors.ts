// Converts errors that an AI SDK model throws or streams into UPPErrors with a code. They are recognised by their shape,
// because each provider package has its own copy of the classes.

import { ErrorCode, isUPPError, UPPError } from "../errors/index.ts";
import { type Meaning, meaningOf } from "./error-words.ts";
import { retryAfterMs } from "./retry-after.ts";

interface Fault {
	name: string;
	message: string;
	statusCode: number | undefined;
	/** The meaning of the provider's own error name, such as `overloaded_error`. */
	meaning: Meaning | undefined;
	body: string;
	/** Whether the provider states when to retry. */
	waits: boolean;
}

/** Converts a thrown value to a UPPError. A UPPError is returned unchanged. */
export function toUPPError(thrown: unknown, provider: string): UPPError {
	if (isUPPError(thrown)) return thrown;
	const wait = retryAfterMs(thrown);
	const fault: Fault = { ...readFault(thrown), waits: wait !== undefined };
	const network = fault.statusCode === undefined || fault.statusCode < 300 ? isNetworkFault(thrown) : false;
	const code = network ? ErrorCode.NETWORK_ERROR : codeOf(fault);
	const statusCode = statusOf(fault);
	const message = network
		? networkMessage(thrown)
		: fault.message || "The model call failed without a message.";
	const error = new UPPError(message, code, provider, "llm", statusCode, thrown);
	if (wait !== undefined) error.retryAfterMs = wait;
	const requestId = requestIdOf(thrown);
	if (requestId !== undefined) error.requestId = requestId;
	return error;
}

/** The headers in which providers send the id of a request. */
const requestIdHeaders = ["x-request-id", "request-id", "x-amzn-requestid", "apim-request-id"];

function requestIdOf(thrown: unknown): string | undefined {
	const { responseHeaders, data } = asRecord(thrown);
	const headers = asRecord(responseHeaders);
	const given = [...requestIdHeaders.map((name) => headers[name]), asRecord(data).request_id];
	return given.map(text).find((id) => /^[\w.:=/+-]{1,200}$/.test(id));
}

function codeOf(fault: Fault): ErrorCode {
	const { name, meaning } = fault;
	const words = `${fault.message} ${fault.body}`;
	if (name === "AbortError") return ErrorCode.CANCELLED;
	if (name === "AI_LoadAPIKeyError") return ErrorCode.AUTHENTICATION_FAILED;
	if (name === "AI_NoSuchModelError") return ErrorCode.MODEL_NOT_FOUND;
	if (isOutOfQuota(fault, words)) return ErrorCode.QUOTA_EXCEEDED;
	// Some providers report a rate limit for a request that is larger than their quota per minute, and so can never
	// succeed.
	if (fault.statusCode === 413) return ErrorCode.CONTEXT_LENGTH_EXCEEDED;
	if (meaning !== undefined && meaning.isCoarse === undefined) return meaning.code;
	if (isTooLong(fault, words)) return ErrorCode.CONTEXT_LENGTH_EXCEEDED;
	if (isFiltered(fault)) return ErrorCode.CONTENT_FILTERED;
	const status = statusOf(fault);
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

// Some providers also mention plans and billing in mere rate limits, but those state a time to wait.
function isOutOfQuota({ meaning, waits }: Fault, words: string): boolean {
	if (meaning?.code === ErrorCode.QUOTA_EXCEEDED) return true;
	return !waits && /billing|credit balance/i.test(words);
}

function isTooLong({ statusCode }: Fault, words: string): boolean {
	if (statusCode === 429) return false;
	return /context.?(length|window)|maximum context|prompt is too long|too many (input )?tokens|maximum number of tokens/i.test(
		words,
	);
}

/** Some providers filter prompts or answers without a specific error name. */
function isFiltered({ statusCode = 400, message }: Fault): boolean {
	return statusCode < 429 && /content (filter|management|moderation)|(content|usage) policy/i.test(message);
}

/** Returns the HTTP status, or the status that the error would have had outside a stream. */
function statusOf({ statusCode, meaning }: Fault): number | undefined {
	return statusCode !== undefined && (statusCode >= 300 || meaning === undefined)
		? statusCode
		: meaning?.status;
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
		case 504:
		case 524:
			return ErrorCode.TIMEOUT;
		case 429:
			return ErrorCode.RATE_LIMITED;
		case 400:
			return /api.?key/i.test(words) ? ErrorCode.AUTHENTICATION_FAILED : ErrorCode.INVALID_REQUEST;
		default:
			return status >= 500 || status === 409 ? ErrorCode.PROVIDER_ERROR : ErrorCode.INVALID_REQUEST;
	}
}

function readFault(thrown: unknown): Omit<Fault, "waits"> {
	if (typeof thrown === "string")
		return { name: "", message: thrown, statusCode: undefined, meaning: undefined, body: "" };
	const error = asRecord(thrown);
	// Providers wrap the error in `error`, and the SDK wraps that in `data`.
	const inner = asRecord(error.error);
	const data = asRecord(error.data);
	const wrapped = asRecord(data.error);
	const said = [wrapped, inner, data, error];
	// Within a stream, `code` may be the status itself.
	const status = [error.statusCode, inner.statusCode, ...said.map(({ code }) => code)].find(isStatus);
	return {
		name: text(error.name),
		message: text(error.message) || text(inner.message),
		statusCode: status,
		meaning: meaningOf(said.flatMap(({ code, type, status }) => [text(code), text(type), text(status)])),
		body: text(error.responseBody),
	};
}

function isStatus(value: unknown): value is number {
	return typeof value === "number" && Number.isInteger(value) && value >= 100 && value < 600;
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

// The SDK wraps the cause in "Failed to process successful response", which explains nothing.
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
