// Finds or masks text in plain data at any depth, in time linear in the data.
import type { ContentMatcher } from "../contract/index.ts";

/** Data nested deeper than this is not searched and counts as a match. */
const deepest = 1_000;

/** Whether a text matches. A pattern is reset between texts. */
function matchesText(matcher: ContentMatcher, text: string): boolean {
	if (typeof matcher === "string")
		return matcher !== "" && text.toLowerCase().includes(matcher.toLowerCase());
	// Only `false` lets a text pass: any other answer counts as a match.
	if (typeof matcher === "function") return matcher(text) !== false;
	matcher.lastIndex = 0;
	return matcher.test(text);
}

/** Returns the first matcher that matches any text in the data, including keys. */
export function firstMatch(matchers: readonly ContentMatcher[], data: unknown): ContentMatcher | undefined {
	if (matchers.length === 0) return undefined;
	let found: ContentMatcher | undefined;
	visit(data, 0, (text) => {
		found ??= matchers.find((matcher) => matchesText(matcher, text));
		return found !== undefined;
	});
	return found;
}

function visit(data: unknown, depth: number, look: (text: string) => boolean): boolean {
	if (typeof data === "string") return look(data);
	if (typeof data !== "object" || data === null) return false;
	if (depth > deepest) return true;
	if (Array.isArray(data)) return data.some((each) => visit(each, depth + 1, look));
	return Object.entries(data).some(([key, value]) => look(key) || visit(value, depth + 1, look));
}

/** Returns the data with matching text masked; the same object if nothing matched. */
export function maskMatches<Value>(matcher: ContentMatcher, data: Value): Value {
	return masked(matcher, data, 0) as Value;
}

const mask = "[REDACTED:filtered]";

function masked(matcher: ContentMatcher, data: unknown, depth: number): unknown {
	if (typeof data === "string") return maskText(matcher, data);
	if (typeof data !== "object" || data === null || depth > deepest) return data;
	if (Array.isArray(data)) {
		const items = data.map((each) => masked(matcher, each, depth + 1));
		return items.every((item, at) => item === data[at]) ? data : items;
	}
	let isChanged = false;
	const entries = Object.entries(data).map(([key, value]) => {
		const changed = masked(matcher, value, depth + 1);
		isChanged ||= changed !== value;
		return [key, changed];
	});
	return isChanged ? Object.fromEntries(entries) : data;
}

function maskText(matcher: ContentMatcher, text: string): string {
	if (!matchesText(matcher, text)) return text;
	if (typeof matcher === "function") return mask;
	if (typeof matcher !== "string") {
		const everywhere = matcher.global ? matcher : new RegExp(matcher.source, `${matcher.flags}g`);
		return text.replace(everywhere, mask);
	}
	const escaped = matcher.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&");
	return text.replace(new RegExp(escaped, "gi"), mask);
}
