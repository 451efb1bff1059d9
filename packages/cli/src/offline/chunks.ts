/** Cuts a file into citable chunks: headings, paragraphs, list items, table rows, pieces of code, settings. */
import type { FileLines } from "./read-transcript.ts";

/** A piece of a file. */
export interface Chunk {
	readonly path: string;
	/** First line, from 1. */
	readonly line: number;
	readonly lines: readonly string[];
	readonly kind: "heading" | "text" | "code";
	/** The name it defines, or its first words: a title, a label or a key. */
	readonly names: string;
	/** Its context: the sentence before a list, the head of a table, the class around a function. */
	readonly context: string;
	/** The heading above it, with the parents of that heading: "News › 3.0.0 › Added". */
	readonly section: { readonly trail: string; readonly level: number; readonly line: number } | undefined;
}

const LONGEST = 40;
const DATA = /\.(?:json[c5]?|ya?ml|toml|ini|cfg|conf|properties|csv|tsv|lock|xml)$|(?:^|\/)\.[\w.-]+$/i;
const PROSE = /\.(?:mdx?|markdown|rst|txt|adoc|log)$|(?:^|\/)[A-Z][A-Z0-9_-]*$/;
/** Matches a line of code that is a comment. */
export const COMMENT: RegExp = /^\s*(?:\/\/|\/\*|\*|#(?!include|\[)|--|;|"""|<!--)/;
const DEFINITION =
	/^\s*(?:(?:export|default|public|private|protected|static|async|abstract|declare|readonly|pub|const|final|override|unsafe)\s+)*(?:function\*?|class|interface|type|enum|struct|trait|impl|module|namespace|def|fn|func|fun|record|protocol|create\s+(?:table|view|index|function)(?:\s+if\s+not\s+exists)?)\s+[`"]?([\w$]+)|^(?:(?:export|declare|pub)\s+)*(?:const|let|var|val|static)\s+(?:mut\s+)?([\w$]+)|^\s+(?:(?:public|private|protected|static|async|override|readonly|get|set)\s+)*(?!(?:if|for|while|switch|catch|return|default|case|else|function)\b)#?([A-Za-z_$][\w$]*)(?:\??:\s|\(.*\{\s*$)/i;
const KEY = /^\s*(?:-\s+)?["']?([\w@./$-]+)["']?(?:\s*[:=]|\s|$)|^\s*\[{1,2}([^\]]+)\]/;
/** Matches the first cell of a row, or the name at the start of an item. */
const LABEL = /^\|([^|]{1,60})\||^(?:[-*+]|\d+[.)])\s+(?:\*\*|`)([^*`]+)/;
type Open = Pick<Chunk, "line" | "kind" | "context"> & { lines: string[]; names: string[]; indent: number };

/** Classifies a file by its name as prose, data or code. */
export function kindOf(path: string): "prose" | "data" | "code" {
	return PROSE.test(path) ? "prose" : DATA.test(path) ? "data" : "code";
}

/** Returns the chunks of a file. Unknown lines separate them. */
export function chunksOf(path: string, lines: FileLines): Chunk[] {
	const chunks: Chunk[] = [];
	const sections: NonNullable<Chunk["section"]>[] = [];
	/** The items or definitions that enclose the next line; the nearest four count. */
	let parents: { readonly indent: number; readonly name: string }[] = [];
	/** The last paragraph, for the list, table or code after it. */
	let lead = "";
	let open: Open | undefined;
	const close = (): void => {
		if (!open) return;
		const { names, indent, ...rest } = open;
		chunks.push({ ...rest, path, names: names.join(" "), section: sections.at(-1) });
		if (open.context === "") lead = open.lines.join(" ").slice(-300);
		if (names[0]) parents.push({ indent, name: names[0].slice(0, 80) });
		open = undefined;
	};
	const add = (text: string, index: number, kind: "text" | "code", context: string, name?: string): void => {
		if (open?.lines.length === LONGEST) close();
		open ??= { line: index + 1, lines: [], kind, names: [], context, indent: indentOf(lines[index]) };
		open.lines.push(text);
		if (name !== undefined) open.names.push(name);
	};
	const around = (indent: number): string => {
		parents = parents.filter((parent) => parent.indent < indent);
		return Array.from(parents.slice(-4), ({ name }) => name).join(" ");
	};
	const addHeading = (title: string, level: number, line: number): void => {
		while ((sections.at(-1)?.level ?? 0) >= level) sections.pop();
		const context = sections.at(-1)?.trail ?? "";
		const section = { level, line, trail: context === "" ? title : `${context} › ${title}` };
		sections.push(section);
		chunks.push({ path, line, lines: [title], kind: "heading", names: title, context, section });
		lead = "";
		parents = [];
	};
	let fence: string | undefined;
	let isRow = false;
	const addProse = (line: string, index: number): void => {
		const text = line.trim();
		const marks = /^(?:`{3,}|~{3,})/.exec(text)?.[0];
		const [level] = /^#{1,6}(?=\s)/.exec(text) ?? [];
		const [, cell, label] = LABEL.exec(text) ?? [];
		const isItem = /^(?:[-*+]|\d+[.)])\s/.test(text);
		const isHead = !isRow;
		const isRule = /^(?:={3,}|-{3,}|~{3,})$/.test(text) && open?.lines.length === 1 && open.context === "";
		isRow = fence === undefined && text.startsWith("|");
		if (fence !== undefined && !text.startsWith(fence)) add(line, index, "code", lead || " ");
		else if (isRule && open) {
			addHeading(open.lines[0] ?? "", text.startsWith("=") ? 1 : 2, index);
			open = undefined;
		} else {
			if (text === "" || marks !== undefined || level !== undefined || isItem || isRow) close();
			if (marks !== undefined) fence = fence === undefined ? marks : undefined;
			else if (level !== undefined) addHeading(text.slice(level.length).trim(), level.length, index + 1);
			else if (isRow && isHead) lead = `${lead} ${text}`.slice(-300);
			else if (isRow && !/^[|:\s-]+$/.test(text)) add(text, index, "text", lead, cell);
			else if (isItem) {
				add(text, index, "text", `${lead} ${around(indentOf(line))}`, label);
				parents.push({ indent: indentOf(line), name: text.slice(0, 80) });
			} else if (text !== "" && !isRow) add(text, index, "text", "");
		}
	};
	/**
	 * Code is cut at blank lines and before definitions; in data every line is a chunk. Comments stay with what follows.
	 */
	const addCode = (line: string, index: number, isData: boolean): void => {
		const isComment = COMMENT.test(line);
		const found = isComment ? null : (isData ? KEY : DEFINITION).exec(line);
		// A line of data is a chunk even without a key.
		const name = found?.[1] ?? found?.[2] ?? found?.[3] ?? (isData && !isComment ? "" : undefined);
		const begins = (name !== undefined || isComment) && (isData || indentOf(line) <= (open?.indent ?? 0));
		if (line.trim() === "" || (begins && open && open.names.length > 0)) close();
		if (line.trim() !== "") add(line, index, "code", around(open?.indent ?? indentOf(line)), name);
	};
	const kind = kindOf(path);
	for (const [index, line] of lines.entries()) {
		if (line === undefined) close();
		else if (kind === "prose") addProse(line, index);
		else addCode(line, index, kind === "data");
	}
	close();
	return chunks;
}

function indentOf(line = ""): number {
	return line.search(/\S/);
}
