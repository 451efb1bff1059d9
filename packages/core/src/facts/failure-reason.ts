// The reason why a run failed: a few values for programs that react to the kind of failure. Derived from the error's code,
// so runs from earlier releases have one too.
import type { ErrorCode } from "@holdfast/upp";

/**
 * Why a run failed. `provider`: its model's provider failed or refused the request. `content_filter`: the provider
 * refused or filtered content. `length`: the conversation is longer than the model can read. `limit`: a limit that you
 * set was reached. `policy`: a policy refused it. `killed`: the session was killed. `error`: anything else, such as an
 * error in a hook; see the code.
 */
export type FailureReason =
	| "provider"
	| "content_filter"
	| "length"
	| "limit"
	| "policy"
	| "killed"
	| "error";

const ofModels: Readonly<Record<ErrorCode, FailureReason>> = {
	AUTHENTICATION_FAILED: "provider",
	RATE_LIMITED: "provider",
	CONTEXT_LENGTH_EXCEEDED: "length",
	MODEL_NOT_FOUND: "provider",
	INVALID_REQUEST: "provider",
	INVALID_RESPONSE: "provider",
	CONTENT_FILTERED: "content_filter",
	QUOTA_EXCEEDED: "provider",
	PROVIDER_ERROR: "provider",
	NETWORK_ERROR: "provider",
	TIMEOUT: "provider",
	CANCELLED: "error",
};

const reasons: ReadonlyMap<string, FailureReason> = new Map([
	...Object.entries(ofModels),
	["content_filtered", "content_filter"],
	["budget_exceeded", "limit"],
	["max_steps_exceeded", "limit"],
	["policy_refused", "policy"],
	["session_killed", "killed"],
]);

/** Returns the reason for an error by its code. */
export function failureReason(code: string): FailureReason {
	return reasons.get(code) ?? "error";
}
