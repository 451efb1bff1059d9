import { describe, expect, test } from "vitest";
import { ErrorCode, UPPError } from "../errors/index.ts";
import { toUPPError } from "./errors.ts";

function apiError(statusCode: number, error: object, responseHeaders: Record<string, string> = {}): unknown {
	const responseBody = JSON.stringify({ error });
	const message = (error as { message?: string }).message ?? "";
	const raised = new Error(message);
	return Object.assign(raised, {
		name: "AI_APICallError",
		statusCode,
		responseBody,
		responseHeaders,
		data: { error },
	});
}

describe("an error of a provider", () => {
	const billing = "You exceeded your current quota, please check your plan and billing details.";

	test.each<[string, unknown, string, boolean]>([
		[
			"out of money",
			apiError(429, { message: billing, code: "insufficient_quota" }),
			"QUOTA_EXCEEDED",
			false,
		],
		[
			"out of money, in words",
			apiError(400, { message: "Your credit balance is too low." }),
			"QUOTA_EXCEEDED",
			false,
		],
		["out of money, by status", apiError(402, { message: "Pay." }), "QUOTA_EXCEEDED", false],
		[
			"a rate limit that speaks of billing",
			apiError(429, { message: billing, details: [{ retryDelay: "5s" }] }),
			"RATE_LIMITED",
			true,
		],
		[
			"a rate limit in tokens",
			apiError(429, { message: "Too many tokens, please wait." }),
			"RATE_LIMITED",
			true,
		],
		[
			"too long",
			apiError(400, { message: "prompt is too long: 9 tokens > 8 maximum" }),
			"CONTEXT_LENGTH_EXCEEDED",
			false,
		],
		["too slow", apiError(408, { message: "Timeout." }), "TIMEOUT", true],
		["a conflict", apiError(409, { message: "Busy." }), "PROVIDER_ERROR", true],
		["unprocessable", apiError(422, { message: "No." }), "INVALID_REQUEST", false],
		[
			"overloaded, within a stream",
			{ type: "overloaded_error", message: "Overloaded" },
			"PROVIDER_ERROR",
			true,
		],
		[
			"limited, within a stream",
			{ error: { type: "rate_limit_error", message: "Slow." } },
			"RATE_LIMITED",
			true,
		],
		["limited, by a number within a stream", { code: 429, message: "Slow." }, "RATE_LIMITED", true],
		[
			"limited, in the words of AWS",
			{ type: "ThrottlingException", message: "Too many tokens" },
			"RATE_LIMITED",
			true,
		],
		[
			"overloaded",
			apiError(529, { type: "overloaded_error", message: "Overloaded" }),
			"PROVIDER_ERROR",
			true,
		],
		[
			"unavailable",
			apiError(503, { code: 503, status: "UNAVAILABLE", message: "Busy." }),
			"PROVIDER_ERROR",
			true,
		],
		[
			"too long, by its code",
			apiError(400, { type: "invalid_request_error", code: "context_length_exceeded", message: "No." }),
			"CONTEXT_LENGTH_EXCEEDED",
			false,
		],
		[
			"larger than the limit of a minute",
			apiError(413, { type: "tokens", code: "rate_limit_exceeded", message: "Request too large." }),
			"CONTEXT_LENGTH_EXCEEDED",
			false,
		],
		[
			"filtered, by its code",
			apiError(400, { code: "content_filter", message: "No." }),
			"CONTENT_FILTERED",
			false,
		],
		[
			"filtered, by its message",
			apiError(400, { type: "invalid_request_error", message: "Output blocked by content filtering policy" }),
			"CONTENT_FILTERED",
			false,
		],
		["a wrong key", apiError(401, { message: "No." }), "AUTHENTICATION_FAILED", false],
		[
			"a wrong key, by its code",
			{ error: { code: "invalid_api_key", message: "No." } },
			"AUTHENTICATION_FAILED",
			false,
		],
		[
			"a forbidden model",
			apiError(403, { status: "PERMISSION_DENIED", message: "No." }),
			"AUTHENTICATION_FAILED",
			false,
		],
		["an unknown model", apiError(404, { message: "No." }), "MODEL_NOT_FOUND", false],
		[
			"an unknown model, by its code",
			apiError(400, { type: "invalid_request_error", code: "model_not_found", message: "No." }),
			"MODEL_NOT_FOUND",
			false,
		],
		[
			"a bad request",
			apiError(400, { type: "invalid_request_error", message: "messages.1 is wrong" }),
			"INVALID_REQUEST",
			false,
		],
		["a slow gateway", apiError(504, { message: "Timeout." }), "TIMEOUT", true],
		["a slow model, within a stream", { type: "timeout_error", message: "Slow." }, "TIMEOUT", true],
		["words alone", "something broke", "PROVIDER_ERROR", false],
		["nothing", undefined, "PROVIDER_ERROR", false],
	])("with %s", (_, thrown, code, retryable) => {
		expect(toUPPError(thrown, "acme")).toMatchObject({ code, retryable, provider: "acme", modality: "llm" });
	});

	test.each([
		["a header of OpenAI", { responseHeaders: { "x-request-id": "req_1" } }, "req_1"],
		["a header of Anthropic", { responseHeaders: { "request-id": "req_2" } }, "req_2"],
		["a header of AWS", { responseHeaders: { "x-amzn-requestid": "a-b-3" } }, "a-b-3"],
		["a header of Azure", { responseHeaders: { "apim-request-id": "4" } }, "4"],
		["its body", { data: { error: { message: "x" }, request_id: "req_5" } }, "req_5"],
		["a header that holds no id", { responseHeaders: { "x-request-id": "a\nb" } }, undefined],
		["nothing", { responseHeaders: {} }, undefined],
	])("names the request by %s", (_, said, requestId) => {
		const thrown = Object.assign(new Error("x"), { name: "AI_APICallError", statusCode: 500, ...said });
		expect(toUPPError(thrown, "acme").requestId).toBe(requestId);
	});

	test.each([
		["AI_LoadAPIKeyError", "AUTHENTICATION_FAILED"],
		["AI_NoSuchModelError", "MODEL_NOT_FOUND"],
		["AI_InvalidPromptError", "INVALID_REQUEST"],
		["AI_UnsupportedFunctionalityError", "INVALID_REQUEST"],
		["AI_JSONParseError", "INVALID_RESPONSE"],
		["AI_TypeValidationError", "INVALID_RESPONSE"],
		["AbortError", "CANCELLED"],
	])("named %s is %s", (name, code) => {
		const thrown = Object.assign(new Error("x"), { name });
		expect(toUPPError(thrown, "acme")).toMatchObject({ code, message: "x", cause: thrown });
	});

	test.each([
		["fetch failed", Object.assign(new TypeError("fetch failed"), { cause: { code: "ECONNREFUSED" } })],
		[
			"a broken answer",
			Object.assign(new Error("Failed"), {
				name: "AI_APICallError",
				statusCode: 200,
				cause: new TypeError("terminated"),
			}),
		],
		["a reset", Object.assign(new Error("read"), { code: "ECONNRESET" })],
	])("of the network: %s", (_, thrown) => {
		expect(toUPPError(thrown, "acme")).toMatchObject({ code: "NETWORK_ERROR", retryable: true });
	});

	test("that is already a UPPError stays the same", () => {
		const error = new UPPError("x", ErrorCode.TIMEOUT, "p", "llm");
		expect(toUPPError(error, "acme")).toBe(error);
	});
});

test.each([
	[{ "retry-after-ms": "12.5", "retry-after": "9" }, 12.5],
	[{ "retry-after": "9" }, 9000],
	[{ "retry-after": new Date(0).toUTCString() }, 0],
	[{ "retry-after": "soon" }, undefined],
	[{}, undefined],
])("the wait requested by %j is %s ms", (headers, wait) => {
	expect(toUPPError(apiError(429, { message: "x" }, headers), "acme").retryAfterMs).toBe(wait);
});
