// Why a model stopped, as one list of reasons.

/** Why a model stopped. `other`: a reason that this list does not include. */
export type StopReason = "stop" | "length" | "tool_calls" | "content_filter" | "error" | "other";

/** The stop reasons of providers, in lower case. */
const reasons: ReadonlyMap<string, StopReason> = new Map<string, StopReason>([
	["stop", "stop"],
	["length", "length"],
	["tool_calls", "tool_calls"],
	["content_filter", "content_filter"],
	["error", "error"],
	["end_turn", "stop"],
	["stop_sequence", "stop"],
	["completed", "stop"],
	["max_tokens", "length"],
	["max_output_tokens", "length"],
	["model_context_window_exceeded", "length"],
	["tool_use", "tool_calls"],
	["function_call", "tool_calls"],
	["content_filtered", "content_filter"],
	["refusal", "content_filter"],
	["safety", "content_filter"],
]);

/** Converts a provider's reason. An unknown one becomes `other`, because it is not a fault of the answer. */
export function readStopReason(given: unknown): StopReason {
	if (typeof given !== "string") return "other";
	return reasons.get(given) ?? reasons.get(given.toLowerCase().replaceAll("-", "_")) ?? "other";
}
