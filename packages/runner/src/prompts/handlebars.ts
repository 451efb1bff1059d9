// Engine `handlebars`: the library parses, this file renders. No code is generated from a template, so it also works
// where code generation is forbidden, and a template can access only the parameters.
import { parse } from "@handlebars/parser";
import { type Expression, type Part, type SyntaxTree, TemplateReader } from "./handlebars-template.ts";
import { fieldOf, isEmpty, type PlainObject, type PlainValue, textOf } from "./plain-params.ts";
import { blockProblems, scanTags } from "./tags.ts";
import {
	type CompileOutcome,
	problemAt,
	problemIn,
	type RenderParts,
	type TemplateEngine,
	tooDeep,
} from "./template-engine.ts";

export const handlebarsEngine: TemplateEngine = { compile };

function compile(text: string, { depth }: { readonly depth: number }): CompileOutcome {
	const costly = costlyNesting(text);
	if (costly !== undefined) return { problems: [costly] };
	const reader = new TemplateReader(depth);
	let template: readonly Part[];
	try {
		template = reader.parts(parse(text) as SyntaxTree);
	} catch (error) {
		return { problems: syntaxProblems(text, error, depth) };
	}
	if (reader.problems.length > 0) return { problems: reader.problems };
	return {
		prompt: {
			references: [...new Set(referencesOf(template))],
			render: (parts) => render(template, { value: parts.params, data: { root: parts.params } }, parts),
		},
	};
}

/** Maximum number of open blocks and parentheses for the parser, whose time is quadratic in it. */
const maximalOpen = 300;

/**
 * Finds nesting that would be expensive to parse. The scan ignores escapes, so its limit is far above the one for
 * templates.
 */
function costlyNesting(text: string): string | undefined {
	/** For each open block, the tags that wait for its end: the block itself, and each `else`. */
	const open: number[] = [];
	let waiting = 0;
	for (const { sigil, name, inner, offset } of scanTags(text).tags) {
		if (sigil === "#" || (sigil === "^" && name !== "")) {
			open.push(1);
			waiting += 1;
		} else if (sigil === "/") waiting -= open.pop() ?? 0;
		else if (name === "else" && open.length > 0) {
			open.push((open.pop() ?? 0) + 1);
			waiting += 1;
		}
		if (waiting > maximalOpen) return problemAt(text, offset, tooDeep(maximalOpen));
		if (inner.split("(").length > maximalOpen)
			return problemAt(text, offset, `more than ${maximalOpen} parentheses in one tag`);
	}
	return undefined;
}

function syntaxProblems(text: string, error: unknown, depth: number): string[] {
	if (error instanceof RangeError) return [problemAt(text, 0, tooDeep(depth))];
	const problems = blockProblems(text, scanTags(text));
	if (problems.length > 0) return problems;
	const { message, lineNumber, column, hash } = error as SyntaxProblem;
	if (lineNumber !== undefined) return [problemIn(lineNumber, (column ?? 0) + 1, message)];
	const { token, line = 0, loc } = hash ?? {};
	const problem = token == null ? "this cannot be read" : `unexpected ${token} in a tag`;
	return [problemIn(loc?.last_line ?? line + 1, (loc?.last_column ?? 0) + 1, problem)];
}

/** The parser's errors: about a node, or about the text. */
interface SyntaxProblem {
	readonly message: string;
	readonly lineNumber?: number;
	readonly column?: number;
	readonly hash?: {
		readonly token?: string | null;
		readonly line?: number;
		/** The preceding token. */
		readonly loc?: { readonly last_line: number; readonly last_column: number };
	};
}

/** Yields paths that start at the parameters: those outside of blocks that change the context. */
function* referencesOf(template: readonly Part[]): Generator<string> {
	for (const part of template) {
		if (part.kind === "text") continue;
		yield* pathsOf(part.value);
		if (part.kind === "value") continue;
		if (part.helper === "if" || part.helper === "unless") yield* referencesOf(part.body);
		yield* referencesOf(part.otherwise);
	}
}

function* pathsOf(expression: Expression): Generator<string> {
	if (expression.kind === "helper") for (const each of expression.values) yield* pathsOf(each);
	if (expression.kind === "path" && !expression.isData && expression.ups === 0 && expression.names.length > 0)
		yield expression.names.join(".");
}

/** Where names are looked up. */
interface Scope {
	readonly value: PlainValue;
	/** `@index`, `@key`, `@first`, `@last`, `@root`. */
	readonly data: PlainObject;
	/** Names that a block defines: `as |item index|`. */
	readonly named?: PlainObject | undefined;
	/** The surrounding context, for `../`. */
	readonly outer?: Scope | undefined;
}

function render(template: readonly Part[], scope: Scope, parts: RenderParts): string {
	const { budget } = parts;
	let text = "";
	for (const part of template) {
		budget.step();
		if (part.kind === "text") text += budget.write(part.text);
		else if (part.kind === "value") text += budget.write(textOf(evaluate(part.value, scope, parts)));
		else text += renderBlock(part, scope, parts);
	}
	return text;
}

function renderBlock(block: Part & { kind: "block" }, scope: Scope, parts: RenderParts): string {
	const value = evaluate(block.value, scope, parts);
	const { helper, body, otherwise, includesZero } = block;
	const choose = (isTrue: boolean): string => render(isTrue ? body : otherwise, scope, parts);
	const isFalse = isEmpty(value);
	switch (helper) {
		case "if":
			return choose(!isFalse && (value !== 0 || includesZero));
		case "unless":
			return choose(isFalse || (value === 0 && !includesZero));
		case "each":
			return isFalse ? choose(false) : renderEach(block, value, scope, parts);
		default:
			if (isFalse) return choose(false);
			if (helper === "section" && value === true) return choose(true);
			if (helper === "section" && Array.isArray(value)) return renderEach(block, value, scope, parts);
			return render(body, inside(scope, value, scope.data, block.names, [value]), parts);
	}
}

function renderEach(
	{ body, otherwise, names }: Part & { kind: "block" },
	value: PlainValue,
	scope: Scope,
	parts: RenderParts,
): string {
	if (typeof value !== "object" || value === null) return render(otherwise, scope, parts);
	const keys = Object.keys(value);
	if (keys.length === 0) return render(otherwise, scope, parts);
	parts.budget.step(keys.length);
	let text = "";
	for (const [index, name] of keys.entries()) {
		const key = Array.isArray(value) ? index : name;
		const isLast = index === keys.length - 1;
		const data = { root: scope.data.root, index, key, first: index === 0, last: isLast };
		const item = (value as PlainObject)[name];
		text += render(body, inside(scope, item, data, names, [item, key]), parts);
	}
	return text;
}

/** Returns a context inside another. */
function inside(
	outer: Scope,
	value: PlainValue,
	data: PlainObject,
	names: readonly string[],
	values: readonly PlainValue[],
): Scope {
	const own = names.slice(0, values.length).map((name, index) => [name, values[index]] as const);
	const named =
		own.length === 0 ? outer.named : Object.assign(Object.create(null), outer.named, Object.fromEntries(own));
	return { value, data, named, outer };
}

function evaluate(expression: Expression, scope: Scope, parts: RenderParts): PlainValue {
	if (expression.kind === "literal") return expression.value;
	if (expression.kind === "path") return pathOf(expression, scope, parts);
	parts.budget.step();
	const [first, second] = expression.values.map((each) => evaluate(each, scope, parts));
	if (expression.name === "lookup") return fieldOf(first, textOf(second));
	return parts.redact(first);
}

function pathOf(
	{ names, ups, isData, original }: Expression & { kind: "path" },
	from: Scope,
	{ missing }: RenderParts,
): PlainValue {
	let scope: Scope | undefined = from;
	for (let up = 0; up < ups; up++) scope = scope?.outer;
	const [first] = names;
	const isNamed =
		!isData && ups === 0 && first !== undefined && from.named !== undefined && first in from.named;
	const start: PlainValue = isData ? scope?.data : isNamed ? from.named : scope?.value;
	const value = names.reduce<PlainValue>(fieldOf, start);
	if (value === undefined) missing(isData || ups > 0 ? original : names.join("."));
	return value;
}
