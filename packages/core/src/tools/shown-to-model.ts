// How much of a tool's result the model sees. The journal keeps all of it; this is only a view.

import { cutText } from "@holdfast/upp";
import type { EngineTool } from "./types.ts";

/** A result in the form that the model receives. */
export interface ShownResult {
	readonly result: unknown;
	readonly cut: boolean;
}

// The share of the limit that cutting at a line end may leave unused.
const GIVEN_AWAY = 0.2;

/**
 * Cuts a result that is longer than the tool's `maxModelCharacters` at the end of a nearby line, and adds a note. JSON is
 * cut as text. The note is added on top of the limit.
 */
export function shownToModel(
	tool: Pick<EngineTool, "maxModelCharacters" | "readOn">,
	result: unknown,
): ShownResult {
	const limit = tool.maxModelCharacters;
	if (limit === Number.POSITIVE_INFINITY) return { result, cut: false };
	const text = typeof result === "string" ? result : (JSON.stringify(result) ?? "");
	if (text.length <= limit) return { result, cut: false };
	const shown = cutAtLineEnd(text, Math.floor(limit));
	return { result: `${shown}\n${note(shown.length, text.length, tool.readOn?.(result))}`, cut: true };
}

function cutAtLineEnd(text: string, limit: number): string {
	const lineEnd = text.lastIndexOf("\n", limit);
	return cutText(text, lineEnd > 0 && lineEnd >= limit * (1 - GIVEN_AWAY) ? lineEnd : limit);
}

function note(shown: number, whole: number, readOn: string | undefined): string {
	const advice = readOn === undefined || readOn === "" ? "Ask for a smaller part to see more." : readOn;
	return `[cut: ${grouped(shown)} of ${grouped(whole)} characters shown; the whole output is kept in the session. ${advice}]`;
}

function grouped(count: number): string {
	return String(count).replace(/\B(?=(\d{3})+$)/g, ",");
}
