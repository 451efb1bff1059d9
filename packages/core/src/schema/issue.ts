// Issues of a value, worded for a model or a person to act on, and the notation of paths in a value.

import { cutText } from "@holdfast/upp";

/** One thing that is wrong with a value. */
export interface Issue {
	/** Where, as in `items[2].name`; empty for the value itself. */
	readonly path: string;
	/** The problem, as in `expected string, got number (42)`. */
	readonly message: string;
}

const SHOWN_ISSUES = 10;
const SHOWN_CHARACTERS = 60;

/** Writes a path the way it would be written in code: `a.b[2]["odd key"]`. */
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

/** Writes issues as lines, `path: message`, the first ten of them. */
export function formatIssues(issues: readonly Issue[]): string {
	const lines = issues
		.slice(0, SHOWN_ISSUES)
		.map(({ path, message }) => (path === "" ? message : `${path}: ${message}`));
	if (issues.length > SHOWN_ISSUES) lines.push(`and ${issues.length - SHOWN_ISSUES} more`);
	return lines.join("\n");
}

/** Names a value's type and, where short enough to help, the value: `number (42)`, `array of 3`, `null`. */
export function describeValue(value: unknown): string {
	if (value === null || value === undefined) return String(value);
	if (Array.isArray(value)) return `array of ${value.length}`;
	if (typeof value === "string")
		return `string (${abbreviate(JSON.stringify(value.slice(0, SHOWN_CHARACTERS + 1)))})`;
	if (typeof value === "number" || typeof value === "boolean") return `${typeof value} (${value})`;
	return typeof value;
}

function abbreviate(text: string): string {
	return text.length <= SHOWN_CHARACTERS ? text : `${cutText(text, SHOWN_CHARACTERS)}…`;
}
