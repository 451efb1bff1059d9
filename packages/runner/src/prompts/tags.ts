// The tags of a text in double braces, found in one pass: to locate unclosed tags, and to keep input from a library's
// parser for which it would take more than linear time.
import { problemAt } from "./template-engine.ts";

/** A tag. */
export interface Tag {
	readonly offset: number;
	/** The text between the braces. */
	readonly inner: string;
	/** The sigil of the tag: `#`, `^`, `/`, `!`, `>`, `=`, `&` or nothing. */
	readonly sigil: string;
	/** The word after the sigil. */
	readonly name: string;
}

/** The tags of a text up to the first unclosed one. */
export interface TagScan {
	readonly tags: readonly Tag[];
	/** The start of the first unclosed tag. */
	readonly unclosed?: number;
}

const opening = /^\s*~?\s*(?<sigil>[#^/!>=&]?)[>*]?\s*(?<name>[^\s~|(]*)/;

export function scanTags(text: string): TagScan {
	const tags: Tag[] = [];
	let at = 0;
	for (;;) {
		const offset = text.indexOf("{{", at);
		if (offset === -1) return { tags };
		const [begin, end] = bracesAt(text, offset);
		const close = text.indexOf(end, begin);
		if (close === -1) return { tags, unclosed: offset };
		const inner = text.slice(begin, close);
		const { sigil = "", name = "" } = opening.exec(inner)?.groups ?? {};
		tags.push({ offset, inner, sigil, name });
		at = close + end.length;
	}
}

const isBlank = /\s/;

/** Returns where a tag's inner text starts, and what ends it. */
function bracesAt(text: string, offset: number): [begin: number, end: string] {
	if (text.startsWith("{{!--", offset)) return [offset + 2, "--}}"];
	let begin = offset + 2;
	while (begin < text.length && isBlank.test(text.charAt(begin))) begin += 1;
	return text[begin] === "{" ? [begin + 1, "}}}"] : [offset + 2, "}}"];
}

/** Finds problems with the blocks of a text: unclosed, never opened, or closed by another tag. */
export function blockProblems(text: string, { tags, unclosed }: TagScan): string[] {
	const open: Tag[] = [];
	for (const tag of tags) {
		const { sigil, name, offset } = tag;
		if (sigil === "#" || (sigil === "^" && name !== "")) open.push(tag);
		if (sigil !== "/") continue;
		const last = open.pop();
		if (last === undefined) return [problemAt(text, offset, `"${name}" is closed and was never opened`)];
		if (last.name !== name)
			return [
				problemAt(
					text,
					last.offset,
					`unclosed block "${last.name}"; the next one closed after it is "${name}"`,
				),
			];
	}
	if (unclosed !== undefined) return [problemAt(text, unclosed, 'unclosed tag "{{"')];
	const last = open.at(-1);
	return last === undefined ? [] : [problemAt(text, last.offset, `unclosed block "${last.name}"`)];
}
