// How much of a tool's result the model sees. The journal keeps all of it; this is only a view.

import { type ContentBlock, cutResult, isContentBlock, mostResultCharacters } from "@holdfast/upp";
import type { EngineTool } from "./types.ts";

/** A result in the form that the model receives. */
export interface ShownResult {
	readonly result: unknown;
	/** The number of its characters, if it was cut at the default limit. */
	readonly unlimited?: number;
}

/** Whether the model sees all of a result. */
export function isShownWhole(
	tool: Pick<EngineTool, "maxModelCharacters"> | undefined,
	result: unknown,
): boolean {
	const most = tool?.maxModelCharacters ?? mostResultCharacters;
	return most === Number.POSITIVE_INFINITY || charactersOf(result) <= most;
}

/**
 * Cuts a result that is longer than the tool's `maxModelCharacters`, or than the default limit if the tool is unknown or
 * has none. JSON is cut as text. Files are never cut.
 */
export function shownToModel(
	tool: Pick<EngineTool, "maxModelCharacters" | "readOn"> | undefined,
	result: unknown,
): ShownResult {
	if (isShownWhole(tool, result)) return { result };
	const limit = tool?.maxModelCharacters;
	const text = textOf(result);
	const advice = tool?.readOn?.(result) || undefined;
	const shown = withText(result, cutResult(text, limit, advice));
	return limit === undefined ? { result: shown, unlimited: text.length } : { result: shown };
}

/** Results are immutable, so each is measured once. */
const measured = new WeakMap<object, number>();

function charactersOf(result: unknown): number {
	if (typeof result === "string") return result.length;
	if (typeof result !== "object" || result === null) return textOf(result).length;
	let characters = measured.get(result);
	if (characters === undefined) {
		characters = textOf(result).length;
		measured.set(result, characters);
	}
	return characters;
}

/** Returns a text itself, the texts between files, and other data as JSON. */
function textOf(result: unknown): string {
	if (typeof result === "string") return result;
	if (!hasFiles(result)) return JSON.stringify(result) ?? "";
	return result.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n");
}

function withText(result: unknown, text: string): unknown {
	if (!hasFiles(result)) return text;
	return [{ type: "text", text }, ...result.filter(({ type }) => type !== "text")];
}

/** Providers read files as such, not as text, only in lists of content blocks. */
function hasFiles(result: unknown): result is readonly ContentBlock[] {
	return (
		Array.isArray(result) &&
		result.every(isContentBlock) &&
		result.some(({ type }) => type !== "text" && type !== "reasoning")
	);
}
