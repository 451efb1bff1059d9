// Public texts for failed model calls: the provider's own message may contain keys, account names and URLs.
import type { ErrorCode } from "./upp-error.ts";

const texts: Readonly<Record<ErrorCode, string>> = {
	AUTHENTICATION_FAILED: "The model cannot be used at the moment.",
	RATE_LIMITED: "The model is overloaded. Try again later.",
	CONTEXT_LENGTH_EXCEEDED: "The conversation is longer than the model can read.",
	MODEL_NOT_FOUND: "The model cannot be used at the moment.",
	INVALID_REQUEST: "The model does not accept this request.",
	INVALID_RESPONSE: "The model's answer could not be understood.",
	CONTENT_FILTERED: "The model's provider refused the content.",
	QUOTA_EXCEEDED: "The model cannot be used at the moment.",
	PROVIDER_ERROR: "The model failed.",
	NETWORK_ERROR: "The model could not be reached. Try again later.",
	TIMEOUT: "The model did not answer in time. Try again later.",
	CANCELLED: "The call was cancelled.",
};

/** Returns the public text for an error of the model layer, by its code; undefined for other codes. */
export function failureText(code: string): string | undefined {
	return Object.hasOwn(texts, code) ? texts[code as ErrorCode] : undefined;
}
