// Issues of a value, worded so that a model or a person can act on them, and the notation of paths in a value.

import { cutText } from "@holdfast/upp";

/** One problem with a value. */
export interface Issue {
	/** The path, such as `items[2].name`; empty for the value itself. */
	readonly path: string;
	/** The problem, such as `expected string, got number (42)`. */
	readonly message: string;
}

const SHOWN_ISSUES = 10;
const SHOWN_CHARACTERS = 60;

/** Formats a path as it would be written in code: `a.b[2]["odd key"]`. */
export function formatPath(segments: readonly PropertyKey[]): string {
	let path = "";
	for (const segment of segments) {
		if (typeof segment === "number") path += `[${segment}]`;
		else if (typeof segment === "string" && !/^[\p{ID_Start}_$][\p{ID_Continue}$-]*$/u.test(segment))
			path += `[${JSON.stringify(segment)}]`;
		else path += path === "" ? String(segment) : `.${String(segment)}`;
	}
	return path;
}

/** Formats up to ten issues as lines, `path: message`. */
export function formatIssues(issues: readonly Issue[]): string {
	const lines = issues
		.slice(0, SHOWN_ISSUES)
		.map(({ path, message }) => (path === "" ? message : `${path}: ${message}`));
	if (issues.length > SHOWN_ISSUES) lines.push(`and ${issues.length - SHOWN_ISSUES} more`);
	return lines.join("\n");
}

/** Describes a value by its type and, if short enough to help, the value: `number (42)`, `array of 3`, `null`. */
export function describeValue(value: unknown): string {
	if (value === null || value === undefined) return String(value);
	if (Array.isArray(value)) return `array of ${value.length}`;
	if (typeof value === "string")
		return `string (${abbreviate(JSON.stringify(value.slice(0, SHOWN_CHARACTERS + 1)))})`;
	if (typeof value === "number" || typeof value === "boolean") return `${typeof value} (${value})`;
	return typeof value;
}

function abbreviate(text: string): string {
	return text.length <= SHOWN_CHARACTERS ? text : `${cutText(text, SHOWN_CHARACTERS)}\u2026`;
}
