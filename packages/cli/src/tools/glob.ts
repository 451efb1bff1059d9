/**
 * Parses the globs of callers. A model writes them, so their cost is limited: matching is linear in the path, and a glob
 * that is very long or expands to too many alternatives is rejected.
 */
import { Minimatch } from "minimatch";
import { ToolRefusal } from "./assistant-tool.ts";

const LONGEST_GLOB = 1_000;
/** Maximum number of globs that alternatives in braces may expand to. */
const MOST_ALTERNATIVES = 100;

/** Whether a path, relative to the root and with forward slashes, matches. */
export type PathMatcher = (path: string) => boolean;

/** Parses a glob; one without a slash matches names in every directory. */
export function readGlob(glob: string): PathMatcher {
	if (glob.length > LONGEST_GLOB)
		throw refusal(`A glob can have at most ${LONGEST_GLOB} characters, not ${glob.length}.`);
	const trimmed = glob.replace(/^\.?\//, "");
	const matcher = new Minimatch(trimmed.includes("/") ? trimmed : `**/${trimmed}`, {
		dot: true,
		nocomment: true,
		nonegate: true,
		noext: true,
		platform: "linux",
		braceExpandMax: MOST_ALTERNATIVES + 1,
	});
	if (matcher.set.length > MOST_ALTERNATIVES)
		throw refusal(
			`"${glob}" expands to more than ${MOST_ALTERNATIVES} globs. Give fewer alternatives in braces.`,
		);
	return (path) => matcher.match(path);
}

function refusal(message: string): ToolRefusal {
	return new ToolRefusal("tool_input_invalid", message);
}
