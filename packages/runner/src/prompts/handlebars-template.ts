// The part of Handlebars' syntax tree that prompt templates may use, and the problems of the rest.
import { problemIn, tooDeep } from "./template-engine.ts";

/** The used part of a node in the parser's tree. The parser's own types do not resolve in an ES module. */
export interface SyntaxNode {
	readonly type: string;
	readonly loc: { readonly start: { readonly line: number; readonly column: number } };
	/** A text, or the value of an option. */
	readonly value?: unknown;
	readonly key?: string;
	readonly path?: SyntaxNode;
	readonly params?: readonly SyntaxNode[];
	readonly hash?: { readonly pairs: readonly SyntaxNode[] } | null;
	readonly program?: SyntaxTree | null;
	readonly inverse?: SyntaxTree | null;
	readonly parts?: readonly unknown[];
	readonly depth?: number;
	readonly data?: boolean;
	readonly original?: unknown;
}

/** A tree, or the tree inside a block. */
export interface SyntaxTree {
	readonly body: readonly SyntaxNode[];
	readonly blockParams?: readonly string[];
}

/** A value in a tag. */
export type Expression =
	| { readonly kind: "literal"; readonly value: string | number | boolean | null | undefined }
	| {
			readonly kind: "path";
			/** Names, from the context. */
			readonly names: readonly string[];
			/** Number of contexts to leave first. */
			readonly ups: number;
			/** Whether the first name is one such as `@index`. */
			readonly isData: boolean;
			readonly original: string;
	  }
	| { readonly kind: "helper"; readonly name: ValueHelper; readonly values: readonly Expression[] };

/** A part of a template. */
export type Part =
	| { readonly kind: "text"; readonly text: string }
	| { readonly kind: "value"; readonly value: Expression }
	| {
			readonly kind: "block";
			/** `section` is a block that only names a value. */
			readonly helper: BlockHelper | "section";
			readonly value: Expression;
			readonly includesZero: boolean;
			readonly names: readonly string[];
			readonly body: readonly Part[];
			readonly otherwise: readonly Part[];
	  };

const blockHelpers = ["if", "unless", "each", "with"] as const;
const valueHelpers = ["redact", "lookup"] as const;
type BlockHelper = (typeof blockHelpers)[number];
type ValueHelper = (typeof valueHelpers)[number];

const isBlockHelper = (name: string): name is BlockHelper =>
	(blockHelpers as readonly string[]).includes(name);
const isValueHelper = (name: string): name is ValueHelper =>
	(valueHelpers as readonly string[]).includes(name);
const known = [...blockHelpers, ...valueHelpers].join(", ");

/** Reads a tree; parts that cannot be used are reported in `problems`. */
export class TemplateReader {
	readonly problems: string[] = [];
	readonly #depth: number;

	constructor(depth: number) {
		this.#depth = depth;
	}

	parts(program: SyntaxTree | null | undefined, depth: number = 0): readonly Part[] {
		return (program?.body ?? []).flatMap((statement) => this.#part(statement, depth));
	}

	#part(statement: SyntaxNode, depth: number): readonly Part[] {
		switch (statement.type) {
			case "ContentStatement":
				return [{ kind: "text", text: String(statement.value) }];
			case "CommentStatement":
				return [];
			case "MustacheStatement":
				return [{ kind: "value", value: this.#call(statement) }];
			case "BlockStatement":
				return this.#block(statement, depth);
			case "PartialStatement":
			case "PartialBlockStatement":
				return this.#refuse(statement, "partials are not allowed: a template cannot include another");
			default:
				return this.#refuse(statement, "decorators are not allowed");
		}
	}

	#block(block: SyntaxNode, depth: number): readonly Part[] {
		// An `else if` is a block inside a block: long chains count as well, because rendering descends them.
		if (depth === this.#depth) return this.#refuse(block, tooDeep(this.#depth));
		const name = nameOf(block.path);
		const pairs = block.hash?.pairs ?? [];
		const params = block.params ?? [];
		const zero = pairs.find(({ key }) => key === "includeZero" && (name === "if" || name === "unless"));
		for (const pair of pairs) if (pair !== zero) this.#refuse(pair, `"${name}" has no option "${pair.key}"`);
		let helper: BlockHelper | "section" = "section";
		let value: Expression;
		if (isBlockHelper(name)) {
			helper = name;
			if (params.length !== 1) this.#refuse(block, `"${name}" takes one value`);
			value = this.#expression(params[0]);
		} else {
			if (isValueHelper(name)) this.#refuse(block, `"${name}" is not a block helper`);
			else if (params.length > 0) this.#unknownHelper(block, name);
			value = this.#expression(block.path);
		}
		return [
			{
				kind: "block",
				helper,
				value,
				includesZero: (zero?.value as { value?: unknown } | undefined)?.value === true,
				names: block.program?.blockParams ?? [],
				body: this.parts(block.program, depth + 1),
				otherwise: this.parts(block.inverse, depth + 1),
			},
		];
	}

	/** Reads a tag or a parenthesis: a helper with values, or a single value. */
	#call(node: SyntaxNode): Expression {
		const name = nameOf(node.path);
		const params = node.params ?? [];
		for (const pair of node.hash?.pairs ?? []) this.#refuse(pair, `"${name}" has no option "${pair.key}"`);
		if (isValueHelper(name)) {
			const count = name === "lookup" ? 2 : 1;
			if (params.length !== count)
				this.#refuse(node, `"${name}" takes ${count === 1 ? "one value" : "two values"}`);
			return { kind: "helper", name, values: params.map((each) => this.#expression(each)) };
		}
		if (isBlockHelper(name)) this.#refuse(node, `"${name}" is a block helper: write "{{#${name} …}}"`);
		else if (params.length > 0 || node.type === "SubExpression") this.#unknownHelper(node, name);
		return this.#expression(node.path);
	}

	#expression(node: SyntaxNode | undefined): Expression {
		if (node === undefined) return { kind: "literal", value: undefined };
		switch (node.type) {
			case "PathExpression": {
				const { parts = [], depth = 0, data = false, original } = node;
				const names = parts.map(String);
				if (parts.some((part) => typeof part !== "string"))
					this.#refuse(node, "a path can only consist of names");
				return { kind: "path", names, ups: depth, isData: data, original: String(original) };
			}
			case "SubExpression":
				return this.#call(node);
			case "StringLiteral":
			case "NumberLiteral":
			case "BooleanLiteral":
				return { kind: "literal", value: node.value as string | number | boolean };
			case "NullLiteral":
				return { kind: "literal", value: null };
			case "UndefinedLiteral":
				return { kind: "literal", value: undefined };
			default:
				this.#refuse(node, "this is not a value");
				return { kind: "literal", value: undefined };
		}
	}

	#unknownHelper(node: SyntaxNode, name: string): void {
		this.#refuse(node, `unknown helper "${name}"; use ${known}`);
	}

	#refuse({ loc: { start } }: SyntaxNode, problem: string): readonly Part[] {
		this.problems.push(problemIn(start.line, start.column + 1, problem));
		return [];
	}
}

function nameOf(path: SyntaxNode | undefined): string {
	return String(path?.original ?? "");
}
