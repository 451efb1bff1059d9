// Arguments nested so deeply that checking, copying or writing them would run out of stack: they are taken for
// unreadable where the answer comes in, so that the call gets an error result and the run continues.
import type { ToolCall } from "@holdfast/upp";

/** Levels of nesting that arguments may have. */
const deepest = 500;

/** The call, unchanged or with its arguments marked as unreadable. */
export function withReadableArguments(call: ToolCall): ToolCall {
	if (!isTooDeep(call.arguments)) return call;
	return { ...call, arguments: {}, invalidArguments: `they are nested more than ${deepest} levels deep` };
}

/** Whether checking, copying or writing what a model said would run out of stack. */
export function isTooDeep(value: unknown): boolean {
	return isDeeper(value, deepest);
}

function isDeeper(value: unknown, levels: number): boolean {
	if (typeof value !== "object" || value === null) return false;
	if (levels === 0) return true;
	for (const key in value) if (isDeeper((value as Record<string, unknown>)[key], levels - 1)) return true;
	return false;
}
