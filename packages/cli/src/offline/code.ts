/**
 * Reads source code of many languages into definitions (with the comment above them) and comments. It knows
 * the forms in which languages define things, not their grammar.
 */
import { type Block, plainText, type SourceDocument } from "./document.ts";

const NAME = "([\\p{L}_$][\\p{L}\\p{N}_$]*[?!]?)";
const MODIFIERS =
	"(?:(?:export|default|declare|abstract|async|public|private|protected|internal|static|final|override|readonly|virtual|inline|sealed|partial|open|pub(?:\\([^)]*\\))?|unsafe|extern|const|data|suspend)\\s+)*";

const FORMS: readonly { readonly defines: string | undefined; readonly form: RegExp }[] = [
	{
		defines: "table",
		form: new RegExp(
			`^\\s*create\\s+(?:or\\s+replace\\s+)?(?:unique\\s+)?(?:table|view|index|function)\\s+(?:if\\s+not\\s+exists\\s+)?["\`]?${NAME}`,
			"iu",
		),
	},
	{ defines: "function", form: new RegExp(`^\\s*${MODIFIERS}function\\s*\\*?\\s*${NAME}\\s*[(<]`, "u") },
	{
		defines: "function",
		form: new RegExp(
			`^\\s*${MODIFIERS}(?:def|fn|fun|func|sub|proc)\\s+(?:\\([^)]*\\)\\s*)?(?:self\\.)?${NAME}`,
			"u",
		),
	},
	{
		defines: undefined,
		form: new RegExp(
			`^\\s*${MODIFIERS}(class|interface|type|enum|namespace|struct|trait|protocol|module|record|object|mod|union)\\s+${NAME}`,
			"u",
		),
	},
	{ defines: "macro", form: new RegExp(`^\\s*(?:#\\s*define|macro_rules!)\\s+${NAME}`, "u") },
	{
		defines: "function",
		form: new RegExp(
			`^\\s*(?:export\\s+)?(?:const|let|var)\\s+${NAME}\\s*(?::[^=]+)?=\\s*(?:async\\s*)?(?:function\\b|\\([^)]*\\)\\s*(?::[^=]+)?=>|[\\w$]+\\s*=>|\\($)`,
			"u",
		),
	},
	{
		defines: "constant",
		form: new RegExp(
			`^(?:export\\s+)?(?:pub\\s+)?(?:const|let|var|val|static|final)\\s+(?:mut\\s+)?${NAME}\\s*[:=\\s]`,
			"u",
		),
	},
	{
		defines: "function",
		form: new RegExp(
			`^\\s*(?:module\\.)?[\\w$]+(?:\\.prototype)?\\.${NAME}\\s*=\\s*(?:async\\s+)?(?:function\\b|\\([^)]*\\)\\s*=>)`,
			"u",
		),
	},
	{ defines: "constant", form: new RegExp(`^(?:module\\.)?exports\\.${NAME}\\s*=`, "u") },
	{ defines: "function", form: new RegExp(`^\\s*${NAME}\\s*:\\s*(?:async\\s+)?function\\b`, "u") },
	{
		defines: "method",
		form: new RegExp(
			`^(?:\\t| {2,})${MODIFIERS}(?:get\\s+|set\\s+|\\*\\s*)?#?${NAME}\\s*(?:<[^>]*>)?\\([^;]*\\)\\s*(?::[^{;=]+)?\\{\\s*(?:\\}|//.*)?$`,
			"u",
		),
	},
	{
		defines: "function",
		form: new RegExp(
			`^(?!return|else|if|for|while|switch|new|throw|await|typeof)[\\p{L}_][\\w\\s*&<>:,\\[\\]]*[\\s*&]${NAME}\\s*\\([^;]*\\)?\\s*(?:const\\s*)?\\{?\\s*$`,
			"u",
		),
	},
	{ defines: "function", form: new RegExp(`^${NAME}\\s*\\(\\)\\s*\\{`, "u") },
	{
		defines: "property",
		form: new RegExp(
			`^(?:\\t+| {2,})(?:readonly\\s+|public\\s+|private\\s+|static\\s+)*["']?${NAME}["']?\\s*(?::|=)\\s*\\S`,
			"u",
		),
	},
	{ defines: "constant", form: new RegExp(`^${NAME}\\s*(?::[^=]+)?[?:]?=\\s*\\S`, "u") },
	{ defines: "target", form: /^([A-Za-z][\w.-]*)\s*:(?!=)(?:\s|$)/u },
];

const NOT_NAMES = new Set(
	"if for while switch catch return else do try function with case default await new typeof throw super constructor_".split(
		" ",
	),
);

/** Parses a source file. */
export function parseCode(
	path: string,
	lines: readonly (string | undefined)[],
	total: number,
): SourceDocument {
	const blocks: Block[] = [];
	const enclosing: { indent: number; index: number; name: string }[] = [];
	let comment: { from: number; texts: string[] } | undefined;
	for (let at = 0; at < lines.length; at++) {
		const line = lines[at] ?? "";
		if (line.length > 2_000) continue;
		const stringEnd = docstringEnd(lines, at);
		if (stringEnd > at) {
			// The text of a definition belongs to it already; a file's own stands for itself.
			if (blocks.at(-1)?.line !== at)
				pushComment(
					blocks,
					{ from: at, texts: [docstringBelow(lines, at - 1)] },
					enclosing.at(-1)?.name ?? "",
				);
			at = stringEnd - 1;
			continue;
		}
		const end = commentEnd(lines, at);
		if (end > at) {
			const texts = lines.slice(at, end).map((text) => commentText(text ?? ""));
			comment =
				comment && comment.from + comment.texts.length === at
					? { from: comment.from, texts: [...comment.texts, ...texts] }
					: { from: at, texts };
			// A comment right above a definition is part of it; any other speaks for itself.
			if (commentEnd(lines, end) === end && definitionIn(lines[end] ?? "") === undefined)
				pushComment(blocks, comment, enclosing.at(-1)?.name ?? "");
			at = end - 1;
			continue;
		}
		if (line.trim() === "") {
			comment = undefined;
			continue;
		}
		// Decorators and attributes stand between a comment and what it is about.
		if (/^\s*(?:@[\w.]+(?:\(.*\))?|#\[.*\])\s*$/.test(line)) continue;
		const found = definitionIn(line);
		const indent = indentOf(line);
		while (
			enclosing.length > 0 &&
			(enclosing.at(-1) as { indent: number }).indent >= indent &&
			!/^\s*[)}\]]/.test(line)
		)
			enclosing.pop();
		if (found) {
			const docs = [comment?.texts.join(" ") ?? "", docstringBelow(lines, at)].join(" ").trim();
			const context = enclosing.map((scope) => scope.name).join(" ");
			blocks.push({
				kind: "definition",
				line: at + 1,
				endLine: extentOf(lines, at),
				text: `${plainText(docs)}\n${line.trim()}`.trim(),
				label: found.name,
				depth: enclosing.length,
				section: -1,
				parent: enclosing.at(-1)?.index ?? -1,
				context,
				defines: found.defines,
			});
			enclosing.push({ indent, index: blocks.length - 1, name: found.name });
		} else if (
			/[\p{L}]/u.test(line) &&
			!/^\s*(?:import|from|use|using|package|#include|return;?)\b/.test(line)
		) {
			blocks.push({
				kind: "code",
				line: at + 1,
				endLine: at + 1,
				text: line.trim(),
				label: "",
				depth: 0,
				section: -1,
				parent: enclosing.at(-1)?.index ?? -1,
				context: enclosing.map((scope) => scope.name).join(" "),
			});
		}
		comment = undefined;
	}
	return { path, kind: "code", lines, total, blocks, sections: [] };
}

function pushComment(blocks: Block[], comment: { from: number; texts: string[] }, scope: string): void {
	const text = plainText(comment.texts.join(" "));
	if (text.length < 12) return;
	blocks.push({
		kind: "paragraph",
		line: comment.from + 1,
		endLine: comment.from + comment.texts.length,
		text,
		label: "",
		depth: 0,
		section: -1,
		parent: -1,
		context: scope,
	});
}

/** The definition a line opens, if it opens one. */
function definitionIn(line: string): { readonly name: string; readonly defines: string } | undefined {
	for (const { defines, form } of FORMS) {
		const match = form.exec(line);
		if (!match) continue;
		const name = (defines === undefined ? match[2] : match[1]) as string;
		if (NOT_NAMES.has(name) || name.length < 2) continue;
		return { name, defines: defines ?? (match[1] as string) };
	}
	return undefined;
}

/** The index after a comment that starts at `at`, or `at` when none does. */
function commentEnd(lines: readonly (string | undefined)[], at: number): number {
	const line = (lines[at] ?? "").trim();
	if (line.startsWith("/*")) {
		let end = at;
		while (end < lines.length && !(lines[end] ?? "").includes("*/")) end++;
		return end + 1;
	}
	if (line.startsWith("<!--")) return at + 1;
	return /^(?:\/\/|#(?![![]|\s*(?:define|include|if|endif|else|pragma|undef|ifdef|ifndef)\b)|--\s|;;)/.test(
		line,
	)
		? at + 1
		: at;
}

function commentText(line: string): string {
	return line
		.trim()
		.replace(/^(?:\/\*+!?|\*+\/|\*(?!\/)|\/\/[/!]?|#+|--|;;+|<!--)\s?/, "")
		.replace(/\s*(?:\*+\/|-->)$/, "");
}

function docstringBelow(lines: readonly (string | undefined)[], at: number): string {
	const first = (lines[at + 1] ?? "").trim();
	const quote = /^[rub]?("""|''')/.exec(first)?.[1];
	if (!quote) return "";
	const body = [first.slice(first.indexOf(quote) + 3)];
	for (
		let index = at + 2;
		!(body.at(-1) as string).includes(quote) && index < Math.min(lines.length, at + 40);
		index++
	)
		body.push((lines[index] ?? "").trim());
	return body.join(" ").replaceAll(quote, "");
}

/** The index after a string of several lines that stands alone, or `at` when there is none. */
function docstringEnd(lines: readonly (string | undefined)[], at: number): number {
	const first = (lines[at] ?? "").trim();
	const quote = /^[rub]?("""|''')/.exec(first)?.[1];
	if (!quote) return at;
	if (first.indexOf(quote, first.indexOf(quote) + 3) > 0) return at + 1;
	for (let index = at + 1; index < lines.length; index++)
		if ((lines[index] ?? "").includes(quote)) return index + 1;
	return at;
}

function indentOf(line: string): number {
	return (/^\s*/.exec(line)?.[0] ?? "").replaceAll("\t", "    ").length;
}

/** The last line of a definition: the line before the indentation falls back to where it began. */
function extentOf(lines: readonly (string | undefined)[], at: number): number {
	const indent = indentOf(lines[at] ?? "");
	let last = at + 1;
	for (let index = at + 1; index < Math.min(lines.length, at + 400); index++) {
		const line = lines[index] ?? "";
		if (line.trim() === "") continue;
		if (indentOf(line) <= indent) return /^\s*[)}\]]/.test(line) ? index + 1 : last;
		last = index + 1;
	}
	return last;
}
