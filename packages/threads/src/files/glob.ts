// Globs, compiled to RE2 patterns: matching takes time linear in the path for every pattern a model may send. `*` and `?`
// stay within a name, `**` crosses folders, `[a-z]` and `{one,other}` are alternatives.
import { HoldfastError } from "holdfast";
import { RE2JS } from "re2js";

/** Maximum length of a pattern in characters. */
const longestPattern = 1_000;

/**
 * Whether a canonical path matches a glob.
 * @throws HoldfastError `invalid_pattern`.
 */
export function compileGlob(glob: string): (path: string) => boolean {
	if (typeof glob !== "string" || glob === "" || glob.length > longestPattern)
		throw invalidPattern(`A glob must be a string of 1 to ${longestPattern} characters.`);
	let source: string;
	try {
		source = sourceOf(glob.replace(/^(?:\.?\/+)+/, ""));
		const pattern = RE2JS.compile(source, RE2JS.DOTALL);
		return (path) => pattern.testExact(path.slice(1));
	} catch (cause) {
		if (cause instanceof HoldfastError) throw cause;
		throw invalidPattern(`The glob ${JSON.stringify(glob)} is invalid.`, cause);
	}
}

function sourceOf(glob: string): string {
	let source = "";
	let groups = 0;
	for (let at = 0; at < glob.length; at++) {
		const sign = glob[at] as string;
		if (sign === "*") {
			const isDouble = glob[at + 1] === "*";
			while (glob[at + 1] === "*") at++;
			if (!isDouble) source += "[^/]*";
			else if (glob[at + 1] === "/") {
				source += "(?:[^/]+/)*";
				at++;
			} else source += ".*";
		} else if (sign === "?") source += "[^/]";
		else if (sign === "[") {
			const end = glob.indexOf("]", at + 2);
			if (end < 0) throw invalidPattern("A `[` of the glob has no `]`.");
			source += classOf(glob.slice(at + 1, end));
			at = end;
		} else if (sign === "{") {
			groups++;
			source += "(?:";
		} else if (sign === "}" && groups > 0) {
			groups--;
			source += ")";
		} else if (sign === "," && groups > 0) source += "|";
		else if (sign === "\\" && at + 1 < glob.length) source += RE2JS.quote(glob[++at] as string);
		else source += RE2JS.quote(sign);
	}
	if (groups > 0) throw invalidPattern("A `{` of the glob has no `}`.");
	return source;
}

function classOf(inside: string): string {
	const isNegated = inside[0] === "!" || inside[0] === "^";
	const members = inside.slice(isNegated ? 1 : 0).replace(/[\\\]^[&~]/g, "\\$&");
	return isNegated ? `[^/${members}]` : `[${members}]`;
}

export function invalidPattern(message: string, cause?: unknown): HoldfastError {
	return new HoldfastError("invalid_pattern", message, cause === undefined ? {} : { cause });
}
