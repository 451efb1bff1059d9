// The providers' names for their errors. Errors inside a stream have such a name and no status, and a status alone is
// often too coarse: a 400 may be a long prompt, a filtered one, or a bad key.
import { ErrorCode } from "../errors/index.ts";

/** The meaning of a name: the error code, and the matching HTTP status. */
export interface Meaning {
	readonly code: ErrorCode;
	readonly status: number;
	/** Set if the status or the message may be more precise. */
	readonly isCoarse?: true;
}

const meanings: ReadonlyMap<string, Meaning> = new Map(
	(
		[
			[
				{ code: ErrorCode.QUOTA_EXCEEDED, status: 402 },
				"insufficient_quota billing_error billing_hard_limit_reached insufficient_balance credits_exhausted",
			],
			[{ code: ErrorCode.CONTEXT_LENGTH_EXCEEDED, status: 400 }, "context_length_exceeded"],
			[{ code: ErrorCode.CONTEXT_LENGTH_EXCEEDED, status: 413 }, "request_too_large"],
			[
				{ code: ErrorCode.CONTENT_FILTERED, status: 400 },
				"content_filter content_policy_violation responsibleaipolicyviolation moderation_blocked prohibited_content",
			],
			[
				{ code: ErrorCode.AUTHENTICATION_FAILED, status: 401 },
				"authentication_error invalid_api_key invalid_authentication unauthenticated unauthorized expiredtokenexception unrecognizedclientexception",
			],
			[
				{ code: ErrorCode.AUTHENTICATION_FAILED, status: 403 },
				"permission_error permission_denied account_deactivated accessdeniedexception",
			],
			[
				{ code: ErrorCode.MODEL_NOT_FOUND, status: 404 },
				"not_found_error not_found model_not_found invalid_model model_decommissioned deploymentnotfound resourcenotfoundexception",
			],
			[
				{ code: ErrorCode.RATE_LIMITED, status: 429 },
				"rate_limit_error rate_limit_exceeded resource_exhausted too_many_requests throttlingexception toomanyrequestsexception",
			],
			[
				{ code: ErrorCode.TIMEOUT, status: 504 },
				"timeout_error request_timeout deadline_exceeded modeltimeoutexception",
			],
			[
				{ code: ErrorCode.PROVIDER_ERROR, status: 529 },
				"overloaded_error engine_overloaded server_overloaded",
			],
			[
				{ code: ErrorCode.PROVIDER_ERROR, status: 503 },
				"unavailable service_unavailable serviceunavailableexception modelnotreadyexception",
			],
			[
				{ code: ErrorCode.PROVIDER_ERROR, status: 500, isCoarse: true },
				"api_error server_error internal internal_error internal_server_error internalserverexception",
			],
			[
				{ code: ErrorCode.INVALID_REQUEST, status: 400, isCoarse: true },
				"invalid_request_error invalid_argument validationexception",
			],
		] satisfies [Meaning, string][]
	).flatMap(([meaning, words]: [Meaning, string]) =>
		words.split(" ").map((word) => [word, meaning] as const),
	),
);

/** Returns the meaning of the most precise known word, given in order. */
export function meaningOf(words: readonly string[]): Meaning | undefined {
	const known = words.flatMap((word) => meanings.get(word.toLowerCase()) ?? []);
	return known.find(({ isCoarse }) => isCoarse === undefined) ?? known[0];
}
