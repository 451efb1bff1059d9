// Email addresses. A local part of more than 64 characters or a domain of more than 255 is not an address.
import type { Answer, Place } from "./rule.ts";
import { endOfRun } from "./rule.ts";

const longestLocal = 64;
const longestDomain = 255;
const domainRun = /[A-Za-z0-9\u00a1-\uffff.-]{1,256}/y;
const domain =
	/(?:[A-Za-z0-9\u00a1-\uffff](?:[A-Za-z0-9\u00a1-\uffff-]{0,61}[A-Za-z0-9\u00a1-\uffff])?\.){1,8}(?:[Xx][Nn]--[A-Za-z0-9-]{2,59}|[A-Za-z]{2,24}|[\u00a1-\uffff]{2,24})(?![A-Za-z0-9\u00a1-\uffff_])/y;
/** A match with one of these endings is a file name. */
const files: ReadonlySet<string> = new Set(
	"png jpg jpeg gif svg webp avif ico css htm html js mjs cjs ts tsx jsx json yml yaml txt".split(" "),
);

/** The source of a pattern for the `@` of a possible address. */
export const emailSign = "(?<=[A-Za-z0-9_%+-])@(?=[A-Za-z0-9\\u00a1-\\uffff-]{0,63}(?:\\.|$))";

/** Whether a character may be in a local part. */
export function isLocal(code: number): boolean {
	return (
		(code >= 97 && code <= 122) ||
		(code >= 65 && code <= 90) ||
		(code >= 48 && code <= 57) ||
		code === 46 ||
		code === 95 ||
		code === 37 ||
		code === 43 ||
		code === 45
	);
}

/** Matches an address around an `@`. */
export function emailAt({ text, at, floor, isWhole }: Place): Answer {
	let start = at;
	while (start > floor && at - start <= longestLocal && isLocal(text.charCodeAt(start - 1))) start--;
	if (at - start > longestLocal) return undefined;
	while (start < at && ".%+-".includes(text[start] as string)) start++;
	if (start === at || text[at - 1] === ".") return undefined;
	if (!isWhole) {
		const run = endOfRun(domainRun, text, at + 1);
		if (run === text.length && run - at <= longestDomain) return "more";
	}
	const end = endOfRun(domain, text, at + 1);
	if (end === at + 1 || end - at > longestDomain) return undefined;
	if (files.has(text.slice(text.lastIndexOf(".", end) + 1, end).toLowerCase())) return undefined;
	// The address of a repository does not identify a person.
	return at - start === 3 && text.startsWith("git", start) ? undefined : { start, end, type: "email" };
}
