// Detects arguments nested so deeply that checking, copying or serialising them would overflow the stack. They are marked
// as unreadable when the answer arrives, so the call gets an error result and the run continues.
import type { ToolCall } from "@holdfast/upp";

/** The maximum nesting depth of arguments. */
const deepest = 500;

/** Returns the call unchanged, or with its arguments marked as unreadable. */
export function withReadableArguments(call: ToolCall): ToolCall {
	if (!isTooDeep(call.arguments)) return call;
	return { ...call, arguments: {}, invalidArguments: `they are nested more than ${deepest} levels deep` };
}

/** Whether checking, copying or serialising this model output would overflow the stack. */
export function isTooDeep(value: unknown): boolean {
	return isDeeper(value, deepest);
}

function isDeeper(value: unknown, levels: number): boolean {
	if (typeof value !== "object" || value === null) return false;
	if (levels === 0) return true;
	for (const key in value) if (isDeeper((value as Record<string, unknown>)[key], levels - 1)) return true;
	return false;
}
