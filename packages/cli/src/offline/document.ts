/** What the offline model sees in a file: sections and blocks, each with the lines it came from. */

/** A piece of a document that can be cited. */
export interface Block {
	readonly kind: "heading" | "item" | "paragraph" | "code" | "row" | "entry" | "definition";
	/** First and last line, from 1. */
	readonly line: number;
	readonly endLine: number;
	/** What it says, on one line and without markup (code keeps its lines). */
	readonly text: string;
	/** What names it: a heading's title, a key, a table's first cell, a defined name, a bold lead; else "". */
	readonly label: string;
	/** Heading level, nesting of a list, depth of a key. */
	readonly depth: number;
	/** Index of its section, or -1. */
	readonly section: number;
	/** Index of the block it belongs to (an item's parent, a key's object), or -1. */
	readonly parent: number;
	/** What else gives it meaning: the table's header, the sentence before a list, the enclosing names. */
	readonly context: string;
	/** For a definition: what it defines, such as "function". For a row: the title of its first column. */
	readonly defines?: string;
}

/** A heading with all that stands below it, up to the next heading of its level. */
export interface Section {
	readonly title: string;
	readonly level: number;
	readonly line: number;
	readonly endLine: number;
	/** Index of the section around it, or -1. */
	readonly parent: number;
	/** The version its title names when it is a release's heading, e.g. "2.1.0". */
	readonly version: string | undefined;
	/** Index of the release's section it stands under (itself, if it is one), or -1. */
	readonly release: number;
}

/** A parsed file. */
export interface SourceDocument {
	readonly path: string;
	readonly kind: "prose" | "data" | "code";
	/** By index from 0; a line that was not read is undefined. */
	readonly lines: readonly (string | undefined)[];
	/** Lines of the whole file. */
	readonly total: number;
	readonly blocks: readonly Block[];
	readonly sections: readonly Section[];
}

const DATA_EXTENSIONS =
	/\.(?:json|jsonc|json5|ya?ml|toml|ini|cfg|conf|properties|env|editorconfig)$|(?:^|\/)\.env[^/]*$|(?:^|\/)\.[a-z]+rc$/i;
const PROSE_EXTENSIONS = /\.(?:md|mdx|markdown|rst|txt|adoc|asciidoc|org|tex|textile|html?|man|[1-9])$/i;

/** How a file is read, judged by its name alone. */
export function documentKind(path: string): SourceDocument["kind"] {
	if (DATA_EXTENSIONS.test(path)) return "data";
	if (PROSE_EXTENSIONS.test(path)) return "prose";
	const name = path.slice(path.lastIndexOf("/") + 1);
	// A name in capitals without an extension is, by custom, a text for people.
	return /^[A-Z][A-Z0-9_-]*$/.test(name) ? "prose" : name.includes(".") ? "code" : "code";
}

/** The titles above a block or section, the outermost first. */
export function headingPath(document: SourceDocument, section: number): Section[] {
	const path: Section[] = [];
	for (let index = section; index >= 0; ) {
		const found = document.sections[index];
		if (!found) break;
		path.unshift(found);
		index = found.parent;
	}
	return path;
}

/** The release a section belongs to, if any. */
export function releaseOf(document: SourceDocument, section: number): Section | undefined {
	return document.sections[document.sections[section]?.release ?? -1];
}

/** Markup removed: links keep their text and emphasis goes; code keeps its marks, it is quoted as it stands. */
export function plainText(text: string): string {
	return text
		.replace(/!\[([^\]]*)\]\([^)]*\)/g, "$1")
		.replace(/\[((?:[^[\]]|\[[^\]]*\])*)\]\((?:[^()]|\([^()]*\))*\)/g, "$1")
		.replace(/\[([^\]]+)\]\[[^\]]*\]/g, "$1")
		.split(/(`+[^`]+`+)/)
		.map((part, index) => (index % 2 === 1 ? part : withoutEmphasis(part)))
		.join("")
		.replace(/\s+/g, " ")
		.trim();
}

function withoutEmphasis(text: string): string {
	return text
		.replace(/<!--.*?-->/g, " ")
		.replace(/<\/?[a-z][^>@]{0,300}>/gi, " ")
		.replace(/\*\*|~~/g, "")
		.replace(/(?<!\w)__(?=\S)|(?<=\S)__(?!\w)/g, "")
		.replace(/(?<![\w*])[*_]([^*_\n]+)[*_](?![\w*])/g, "$1")
		.replace(/\\([\\`*_{}[\]()#+.!<>-])/g, "$1");
}

/** A name or title without any markup. */
export function plainName(text: string): string {
	return plainText(text).replaceAll("`", "").trim();
}
