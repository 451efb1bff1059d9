// Markdown as elements. The text of models and tools is never parsed as HTML: `marked` only splits it into tokens, and HTML
// in it stays text, except line breaks and images. Links lead to the web and to mail addresses only; images are links, because loading one would tell
// its server.
import { lexer, type Token, type Tokens } from "marked";
import type { ComponentChildren, JSX } from "preact";
import { useMemo } from "preact/hooks";
import { Code } from "./code.tsx";
import { Scrolls } from "./scrolls.tsx";

/** Longer texts are shown unformatted. */
const mostCharacters = 200_000;
/** Deeply nested quotes and lists, which take more than linear time and the whole stack to parse. */
const tooDeep = /^(?:[ \t]*(?:>|(?:[*+-]|\d{1,9}[.)])[ \t])){12}/m;

/** Splits a text into tokens; undefined if it is shown unformatted. */
export function tokensOf(text: string): readonly Token[] | undefined {
	return text.length > mostCharacters || tooDeep.test(text) ? undefined : lexer(text);
}

export function Markdown({ text }: { readonly text: string }): JSX.Element {
	const tokens = useMemo(() => tokensOf(text), [text]);
	if (tokens === undefined) return <p class="text plain">{text}</p>;
	return <div class="text markdown">{tokens.map(block)}</div>;
}

function block(token: Token, key: number): ComponentChildren {
	switch (token.type) {
		case "heading":
			// The outline of the page consists of its own headings.
			return (
				<p key={key} class={`heading heading-${token.depth}`}>
					{inline(token.tokens)}
				</p>
			);
		case "paragraph":
			return <p key={key}>{inline(token.tokens)}</p>;
		case "text":
			return <span key={key}>{token.tokens === undefined ? decoded(token.text) : inline(token.tokens)}</span>;
		case "code":
			return <Code key={key} code={token.text} language={(token.lang ?? "").split(/\s/)[0] ?? ""} />;
		case "blockquote":
			return <blockquote key={key}>{token.tokens?.map(block)}</blockquote>;
		case "list":
			return <List key={key} of={token as Tokens.List} />;
		case "table":
			return <Table key={key} of={token as Tokens.Table} />;
		case "hr":
			return <hr key={key} />;
		case "space":
		case "def":
			return null;
		default:
			return (
				<p key={key} class="plain">
					{token.type === "html" ? html(token.raw.trim(), 0) : token.raw.trim()}
				</p>
			);
	}
}

/** Models write line breaks into tables, and images as HTML. Every other tag stays text. */
function html(raw: string, key: number): ComponentChildren {
	if (/^<br\s*\/?>$/i.test(raw)) return <br key={key} />;
	if (!/^<img\s[^<>]*>$/i.test(raw)) return raw;
	return (
		<Link key={key} href={attribute(raw, "src")} raw={raw}>
			{`Image: ${attribute(raw, "alt") || attribute(raw, "src")}`}
		</Link>
	);
}

/** Returns the value of an attribute of a tag; empty without one. */
function attribute(tag: string, name: "src" | "alt"): string {
	const found = new RegExp(`\\s${name}=(?:"([^"]*)"|'([^']*)'|([^\\s"'>]+))`, "i").exec(tag);
	return decoded(found?.[1] ?? found?.[2] ?? found?.[3] ?? "");
}

function List({ of: { ordered, start, items } }: { readonly of: Tokens.List }): JSX.Element {
	const lines = items.map(({ tokens, task, checked }, index) => (
		<li key={index} class={task ? "task" : undefined}>
			{task ? <TaskMark isDone={checked === true} /> : null}
			{tokens.filter(({ type }) => type !== "checkbox").map(block)}
		</li>
	));
	return ordered ? <ol start={start === "" ? 1 : start}>{lines}</ol> : <ul>{lines}</ul>;
}

function TaskMark({ isDone }: { readonly isDone: boolean }): JSX.Element {
	return (
		<>
			<span aria-hidden="true">{isDone ? "☑ " : "☐ "}</span>
			<span class="hidden">{isDone ? "Done:" : "Open:"}</span>
		</>
	);
}

function Table({ of: { header, rows } }: { readonly of: Tokens.Table }): JSX.Element {
	const classOf = ({ align }: Tokens.TableCell): string | undefined =>
		align === null ? undefined : `align-${align}`;
	return (
		<Scrolls class="table" label="Table">
			<table>
				<thead>
					<tr>
						{header.map((cell, index) => (
							<th key={index} class={classOf(cell)}>
								{inline(cell.tokens)}
							</th>
						))}
					</tr>
				</thead>
				<tbody>
					{rows.map((row, number) => (
						<tr key={number}>
							{row.map((cell, index) => (
								<td key={index} class={classOf(cell)}>
									{inline(cell.tokens)}
								</td>
							))}
						</tr>
					))}
				</tbody>
			</table>
		</Scrolls>
	);
}

function inline(tokens: readonly Token[] = []): ComponentChildren {
	return tokens.map((token, key) => {
		switch (token.type) {
			case "strong":
				return <strong key={key}>{inline(token.tokens)}</strong>;
			case "em":
				return <em key={key}>{inline(token.tokens)}</em>;
			case "del":
				return <del key={key}>{inline(token.tokens)}</del>;
			case "codespan":
				return <code key={key}>{token.text}</code>;
			case "br":
				return <br key={key} />;
			case "link":
				return (
					<Link key={key} href={token.href} raw={token.raw}>
						{inline(token.tokens)}
					</Link>
				);
			case "image":
				return (
					<Link key={key} href={token.href} raw={token.raw}>
						{`Image: ${token.text === "" ? token.href : token.text}`}
					</Link>
				);
			case "text":
				return token.tokens === undefined ? decoded(token.text) : inline(token.tokens);
			case "escape":
				return decoded(token.text);
			case "html":
				return html(token.raw, key);
			default:
				return token.raw;
		}
	});
}

function Link(props: {
	readonly href: string;
	/** What is shown if the link leads elsewhere. */
	readonly raw: string;
	readonly children: ComponentChildren;
}): JSX.Element {
	const { href, raw, children } = props;
	if (!isSafeLink(href)) return <>{raw}</>;
	return (
		<a href={href} rel="noreferrer noopener" target="_blank">
			{children}
		</a>
	);
}

/** Whether an address leads to the web or to a mail address. */
export function isSafeLink(href: string): boolean {
	return /^(https?:\/\/|mailto:)/i.test(href);
}

const entities: Readonly<Record<string, string>> = {
	amp: "&",
	lt: "<",
	gt: ">",
	quot: '"',
	apos: "'",
	nbsp: "\u00a0",
};

/** Replaces the entities that Markdown allows in text. */
function decoded(text: string): string {
	if (!text.includes("&")) return text;
	return text.replaceAll(/&(#\d{1,7}|#x[\da-f]{1,6}|\w{2,6});/gi, (whole, name: string) => {
		if (!name.startsWith("#")) return entities[name.toLowerCase()] ?? whole;
		const code = /^#x/i.test(name) ? Number.parseInt(name.slice(2), 16) : Number(name.slice(1));
		return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : whole;
	});
}
