// Engine `mustache`: the library parses, this file renders. The library's own rendering calls functions, follows inherited
// names and escapes HTML. The library is optional, so it is passed in.
import { messageOf } from "@holdfast/upp";
import { fieldOf, isEmpty, type PlainValue, textOf } from "./plain-params.ts";
import { blockProblems, scanTags, type Tag } from "./tags.ts";
import {
	type CompileOutcome,
	mostProblems,
	problemAt,
	type RenderParts,
	type TemplateEngine,
	tooDeep,
} from "./template-engine.ts";

/** The used part of the library. */
type Library = Pick<typeof import("mustache")["default"], "Writer">;

/** The library's tokens: kind, text, start, end, and the tokens inside a section. */
type Token = readonly [kind: string, text: string, begin: number, end: number, inside?: readonly Token[]];

/** Maximum number of consecutive blanks inside a tag: the library's parser takes quadratic time for them. */
const maximalBlanks = 100;
const manyBlanks = new RegExp(`\\s{${maximalBlanks + 1}}`);

/** Returns the engine for the library, `mustache`. */
export function mustacheEngine(library: Library): TemplateEngine {
	return { compile: (text, { depth }) => compile(library, text, depth) };
}

function compile(library: Library, text: string, depth: number): CompileOutcome {
	const scan = scanTags(text);
	const problems: string[] = [];
	for (const tag of scan.tags) {
		const problem = problemOf(tag);
		if (problem !== undefined) problems.push(problemAt(text, tag.offset, problem));
		if (problems.length >= mostProblems) break;
	}
	problems.push(...blockProblems(text, scan));
	if (problems.length > 0) return { problems };
	let tokens: readonly Token[];
	try {
		// A separate writer: the shared one caches every text that it parses.
		tokens = new library.Writer().parse(text) as unknown as readonly Token[];
	} catch (error) {
		return { problems: [problemAt(text, 0, messageOf(error))] };
	}
	const deep = tokenBelow(tokens, depth);
	if (deep !== undefined) return { problems: [problemAt(text, deep[2], tooDeep(depth))] };
	return {
		prompt: {
			references: [...referencesOf(tokens)],
			render: (parts) => render(tokens, [parts.params], parts),
		},
	};
}

function problemOf({ sigil, name, inner }: Tag): string | undefined {
	if (sigil === ">") return `partial "${name}": a template cannot include another`;
	if (sigil === "=") return "delimiters cannot be changed";
	if (manyBlanks.test(inner)) return `more than ${maximalBlanks} consecutive spaces in a tag`;
	if (sigil !== "!" && /\s/.test(inner.trim().slice(sigil.length).trim()))
		return `unknown helper "${name}"; a tag is one name`;
	return undefined;
}

function tokenBelow(tokens: readonly Token[], depth: number): Token | undefined {
	for (const token of tokens) {
		const [, , , , inside] = token;
		if (inside === undefined) continue;
		if (depth === 0) return token;
		const below = tokenBelow(inside, depth - 1);
		if (below !== undefined) return below;
	}
	return undefined;
}

/** Yields names outside of sections, and inside those that do not change what names refer to. */
function* referencesOf(tokens: readonly Token[]): Generator<string> {
	for (const [kind, name, , , inside] of tokens) {
		const isRedacted = kind === "#" && name === "redact";
		if (kind !== "text" && kind !== "!" && name !== "." && !isRedacted) yield name;
		if (inside !== undefined && (kind === "^" || isRedacted)) yield* referencesOf(inside);
	}
}

/** The innermost context is the last element of `stack`. */
function render(tokens: readonly Token[], stack: readonly PlainValue[], parts: RenderParts): string {
	const { budget } = parts;
	let text = "";
	for (const token of tokens) {
		budget.step();
		const [kind, name] = token;
		if (kind === "text") text += budget.write(name);
		else if (kind === "#" || kind === "^") text += section(token, stack, parts);
		else if (kind !== "!") text += budget.write(textOf(lookup(name, stack, parts)));
	}
	return text;
}

function section(
	[kind, name, , , inside = []]: Token,
	stack: readonly PlainValue[],
	parts: RenderParts,
): string {
	const { budget } = parts;
	if (kind === "#" && name === "redact") return parts.redact(render(inside, stack, parts));
	const value = lookup(name, stack, parts);
	const isFalse = isEmpty(value) || value === 0;
	if (kind === "^") return isFalse ? render(inside, stack, parts) : "";
	if (isFalse) return "";
	if (!Array.isArray(value)) return render(inside, value === true ? stack : [...stack, value], parts);
	let text = "";
	for (const each of value) {
		budget.step();
		text += render(inside, [...stack, each], parts);
	}
	return text;
}

/** Looks up a name in the innermost context that has it; names after dots are read from there only. */
function lookup(path: string, stack: readonly PlainValue[], { missing }: RenderParts): PlainValue {
	if (path === ".") return stack.at(-1);
	const [first = "", ...rest] = path.split(".");
	const holder = stack.findLast((each) => fieldOf(each, first) !== undefined);
	const value = rest.reduce<PlainValue>(fieldOf, fieldOf(holder, first));
	if (value === undefined) missing(path);
	return value;
}
