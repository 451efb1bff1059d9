// The option `toolChoice`: whether the model may call tools, and which. It becomes a parameter of every request.
import { HoldfastTypeError } from "@holdfast/upp";

/** Whether the model may, must or must not call tools, or which one it must call, as in the AI SDK. */
export type AgentToolChoice =
	| "auto"
	| "none"
	| "required"
	| { readonly type: "tool"; readonly toolName: string };

/** @throws HoldfastError `invalid_option` for an invalid choice. */
export function checkToolChoice(given: unknown): void {
	if (given === "auto" || given === "none" || given === "required") return;
	const { type, toolName } = (given ?? {}) as { readonly type?: unknown; readonly toolName?: unknown };
	if (type === "tool" && typeof toolName === "string" && toolName !== "") return;
	throw new HoldfastTypeError(
		"invalid_option",
		'The option `toolChoice` must be "auto", "none", "required" or {type: "tool", toolName}.',
	);
}

/** Returns the parameters of requests with the choice added. */
export function withToolChoice(
	params: Record<string, unknown> | undefined,
	toolChoice: AgentToolChoice | undefined,
): Record<string, unknown> | undefined {
	return toolChoice === undefined ? params : { ...params, toolChoice };
}
