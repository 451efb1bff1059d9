// Why a model stopped, in one list of words.

/** Why a model stopped. `other` is a reason that this list does not name. */
export type StopReason = "stop" | "length" | "tool_calls" | "content_filter" | "error" | "other";

/** The stop reasons of other providers, in lower case, as their services send them. */
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

/** The reason in our words. One that is not known is `other`: it is no fault of the answer. */
export function readStopReason(given: unknown): StopReason {
	if (typeof given !== "string") return "other";
	return reasons.get(given) ?? reasons.get(given.toLowerCase().replaceAll("-", "_")) ?? "other";
}
