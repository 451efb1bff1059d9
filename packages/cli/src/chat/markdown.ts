/**
 * Renders Markdown as terminal text. `marked` parses it; content that a terminal cannot show, such as an image, is
 * described.
 */
import { Lexer, type Token, type Tokens } from "marked";
import stringWidth from "string-width";
import { printable } from "../terminal/index.ts";
import { highlight } from "./highlight.ts";
import { codeText, type Paint } from "./paint.ts";

/** Longer blocks are shown verbatim, because parsing them could take long. */
const LONGEST = 8_000;
/** Deeply nested quotes and lists, which do not occur in practice and take more than linear time to parse. */
const tooDeep = /^(?:[ \t]*(?:>|(?:[*+-]|\d{1,9}[.)])[ \t])){12}/m;
/** Maximum nesting of lists and quotes. */
const DEEPEST = 8;

/**
 * Renders a block of Markdown for a terminal of the given width. A block that ends with a line end is followed by an
 * empty line.
 */
export function renderMarkdown(source: string, paint: Paint, columns: number): string {
	const text = printable(source);
	if (text.length > LONGEST || tooDeep.test(text)) return text;
	const lines = new Renderer(paint, columns).blocks(new Lexer({ gfm: true }).lex(text), 0);
	return text.endsWith("\n") && text !== "\n" ? `${lines.join("\n")}\n` : lines.join("\n");
}

class Renderer {
	readonly #paint: Paint;
	readonly #columns: number;

	constructor(paint: Paint, columns: number) {
		this.#paint = paint;
		this.#columns = columns;
	}

	blocks(tokens: readonly Token[], depth: number): string[] {
		if (depth > DEEPEST) return tokens.map(({ raw }) => raw);
		return tokens.flatMap((token) => this.#block(token as Tokens.Generic, depth));
	}

	#block(token: Tokens.Generic, depth: number): string[] {
		switch (token.type) {
			case "space":
				return [];
			case "heading":
				return [this.#paint("heading", this.#inline(token.tokens))];
			case "code":
				// The parser keeps the end of an empty last line.
				return highlight(token.text.replace(/\n$/, ""), token.lang?.split(/\s/)[0]).map((pieces) =>
					codeText(this.#paint, pieces),
				);
			case "blockquote":
				return this.blocks(token.tokens ?? [], depth + 1)
					.flatMap((line) => line.split("\n"))
					.map((line) => `${this.#paint("quiet", "│")} ${line}`);
			case "hr":
				return [this.#paint("quiet", "─".repeat(Math.min(40, this.#columns)))];
			case "list":
				return this.#list(token as Tokens.List, depth);
			case "table":
				return this.#table(token as Tokens.Table);
			case "paragraph":
			case "text":
				return [token.tokens === undefined ? token.text : this.#inline(token.tokens)];
			default:
				return [token.raw.replace(/(?<!\n)\n+$/, "")];
		}
	}

	#list({ ordered, start, items }: Tokens.List, depth: number): string[] {
		return items.flatMap((item, index) => {
			const number = ordered ? `${(Number(start) || 1) + index}.` : "•";
			const box = item.task ? (item.checked ? "[x] " : "[ ] ") : "";
			const indent = " ".repeat(number.length + 1);
			const lines = this.blocks(
				item.tokens.filter(({ type }) => type !== "checkbox"),
				depth + 1,
			).flatMap((text) => text.split("\n"));
			return lines.map((line, at) => (at === 0 ? `${number} ${box}${line}` : `${indent}${line}`));
		});
	}

	/** In columns if they fit, otherwise with one line per cell. */
	#table({ header, rows }: Tokens.Table): string[] {
		const names = header.map(({ tokens }) => this.#inline(tokens));
		const cells = rows.map((row) => row.map(({ tokens }) => this.#inline(tokens)));
		const widths = names.map((name, at) =>
			Math.max(...[name, ...cells.map((row) => row[at] ?? "")].map((cell) => stringWidth(cell))),
		);
		const width = widths.reduce((sum, each) => sum + each + 3, -3);
		if (width > this.#columns)
			return cells.flatMap((row) =>
				row.map((cell, at) => `${at === 0 ? "• " : "  "}${this.#paint("strong", names[at] ?? "")}: ${cell}`),
			);
		const line = (row: readonly string[]): string =>
			widths
				.map((each, at) => `${row[at] ?? ""}${" ".repeat(each - stringWidth(row[at] ?? ""))}`)
				.join(this.#paint("quiet", " │ "))
				.trimEnd();
		const rule = this.#paint("quiet", widths.map((each) => "─".repeat(each)).join("─┼─"));
		return [line(names.map((name) => this.#paint("strong", name))), rule, ...cells.map(line)];
	}

	#inline(tokens: readonly Token[] = []): string {
		return tokens.map((token) => this.#span(token as Tokens.Generic)).join("");
	}

	#span(token: Tokens.Generic): string {
		const inner = (): string => (token.tokens === undefined ? token.text : this.#inline(token.tokens));
		switch (token.type) {
			case "strong":
				return this.#paint("strong", inner());
			case "em":
				return this.#paint("emphasis", inner());
			case "del":
				return this.#paint("deleted", inner());
			case "codespan":
				return this.#paint("code", token.text);
			case "br":
				return "\n";
			case "link":
				return token.href === token.text || token.href === `mailto:${token.text}`
					? this.#paint("link", token.text)
					: `${this.#paint("link", inner())} (${token.href})`;
			case "image":
				return `[image: ${token.text || token.href}]`;
			case "escape":
				return token.text;
			case "text":
				return inner();
			default:
				return token.raw;
		}
	}
}
