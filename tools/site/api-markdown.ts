// The parts of a reference page as Markdown: docstrings, their tags, and tables of members.
import type { Declaration, Member } from "./read-declarations.ts";

/** Returns the Markdown for a name that a docstring links to. */
export type Linker = (name: string) => string;

type Tag = readonly [tag: string, value: string];

/** Writes the section of a name: description, signature, members, errors, example. Its parts have lower headings. */
export function writeSection(
	name: string,
	{ kind, doc, members }: Declaration,
	code: string,
	link: Linker,
	heading: "##" | "###" = "##",
): string {
	const { text, tags } = readDoc(doc);
	const ofKind = (wanted: string): readonly string[] =>
		tags.flatMap(([tag, value]) => (tag === wanted ? [value] : []));
	const others = tags.filter(
		([tag]) => !["example", "throws", "returns", "deprecated", "param"].includes(tag),
	);
	return [
		`${heading} ${name} <Badge type="info" text="${kind}" /> {#${anchorOf(name)}}`,
		"",
		...ofKind("deprecated").map((value) => `::: warning Deprecated\n${plain(value, link)}\n:::\n`),
		plain(text, link),
		"",
		// Omitted if the heading already contains it.
		...(code === `${kind} ${name}` ? [] : ["```ts", code, "```", ""]),
		...linkTypes(name, code, members, link),
		...ofKind("param").map((value) => `- ${plain(value.replace(/^(\w+)\s*-?\s*/, "`$1`: "), link)}`),
		...ofKind("returns").map((value) => `**Returns** ${plain(value, link)}\n`),
		...writeMembers(members, link),
		...ofKind("throws").map((value) => `**Errors** ${plain(value, link)}\n`),
		...others.map(([tag, value]) => `**${capital(tag)}** ${plain(value, link)}\n`),
		...ofKind("example").map(writeExample),
	].join("\n");
}

/** Returns links to the types in a signature and in its members, in the order in which they appear. */
function linkTypes(name: string, code: string, members: readonly Member[], link: Linker): readonly string[] {
	const texts = [code, ...members.map(({ signature }) => signature)];
	const words = texts.flatMap((text) => text.match(/\b[A-Z][A-Za-z\d]+\b/g) ?? []);
	const parameters = texts.flatMap((text) =>
		[...text.matchAll(/\b([A-Z]\w+) (?:extends|=) /g)].map(([, parameter]) => parameter),
	);
	const links = [...new Set(words)]
		.filter((word) => word !== name && !parameters.includes(word))
		.map((word) => link(word));
	const known = links.filter((each) => each.startsWith("["));
	return known.length === 0 ? [] : [`**Types** ${known.join(", ")}\n`];
}

/** Letters keep their case: `agent` and `Agent` are different anchors. */
export const anchorOf = (name: string): string => name.replaceAll("$", "");

const capital = (tag: string): string => `${tag[0]?.toUpperCase()}${tag.slice(1)}`;

function writeExample(value: string): string {
	const code = value.includes("```") ? value : `\`\`\`ts\n${value}\n\`\`\``;
	return `**Example**\n\n${code}\n`;
}

/** Descriptions of members whose names say what they are. */
const standardNotes: ReadonlyMap<string, string> = new Map([
	["agentId", "The id of the agent."],
	["runId", "The id of the run."],
	["sessionId", "The id of the session."],
	["threadId", "The id of the thread."],
	["toolCallId", "The id of the tool call."],
	["metadata", "Data for providers, keyed by the provider's name."],
	["[Symbol.iterator]", "For `for … of`."],
	["[Symbol.asyncIterator]", "For `for await`."],
	["[Symbol.dispose]", "For `using`."],
	["[Symbol.asyncDispose]", "For `await using`."],
]);

/** Writes properties in one table, with their types; methods in another. */
function writeMembers(members: readonly Member[], link: Linker): readonly string[] {
	const properties: string[] = [];
	const methods: string[] = [];
	for (const { name, signature, doc, needsNoDoc } of members) {
		// The row of the getter stands for both.
		const hasGetter = members.some((each) => each.name === name && each.signature.startsWith("get "));
		if (doc === "" && signature.startsWith("set ") && hasGetter) continue;
		const note = doc === "" && needsNoDoc ? (standardNotes.get(name) ?? "Always this.") : noteOf(doc, link);
		const property =
			/^(?:static |readonly )*(?<name>[\w$]+|\[[^\]]+\]|"[^"]+")(?<optional>\??): (?<type>.+)$/s.exec(
				signature,
			)?.groups;
		if (property === undefined) methods.push(`| ${cell(signature)} | ${note} |`);
		else {
			const { name = "", optional = "", type = "" } = property;
			properties.push(`| ${cell(name + optional)} | ${cell(type)} | ${note} |`);
		}
	}
	return [
		...(properties.length > 0
			? ["| property | type | description |", "|---|---|---|", ...properties, ""]
			: []),
		...(methods.length > 0 ? ["| method | description |", "|---|---|", ...methods, ""] : []),
	];
}

function noteOf(doc: string, link: Linker): string {
	const { text, tags } = readDoc(doc);
	const notes = tags.filter(([tag]) => tag !== "example").map(([tag, value]) => `${labelOf(tag)} ${value}`);
	return plain(
		[text, ...notes]
			.filter((each) => each.trim() !== "")
			.join(" ")
			.replaceAll(/\s*\n\s*/g, " "),
		link,
	).replaceAll(/(?<!\\)\|/g, "\\|");
}

function labelOf(tag: string): string {
	return tag === "throws" ? "Errors:" : tag === "returns" ? "Returns" : `${capital(tag)}:`;
}

/** Formats code for a table cell, cut if it is too long. */
function cell(code: string): string {
	const shown = code.length > 240 ? `${code.slice(0, 239)}…` : code;
	const text = shown.replaceAll("|", "\\|");
	return text.includes("`") ? `\`\` ${text} \`\`` : `\`${text}\``;
}

/** Parses a docstring into its text and its tags; an `@` inside a fenced block is not a tag. */
export function readDoc(doc: string): { readonly text: string; readonly tags: readonly Tag[] } {
	const text: string[] = [];
	const tags: [string, string[]][] = [];
	let isCode = false;
	// A tag may follow text on the same line.
	const lines = doc.replaceAll(/([.:)`]) @(?=(?:see|throws|returns|deprecated)\b)/g, "$1\n@").split("\n");
	for (const line of lines) {
		if (line.startsWith("```")) isCode = !isCode;
		const { tag, rest = "" } =
			(!isCode && /^@(?<tag>[a-z]\w*)\b(?!\/)\s*(?<rest>.*)$/.exec(line)?.groups) || {};
		if (tag !== undefined) tags.push([tag, [rest]]);
		else (tags.at(-1)?.[1] ?? text).push(line);
	}
	return { text: text.join("\n").trim(), tags: tags.map(([tag, lines]) => [tag, lines.join("\n").trim()]) };
}

/** Converts the text of a docstring to Markdown: links are resolved, and HTML outside code is escaped. */
export function plain(text: string, link: Linker): string {
	return text
		.split(/(```[\s\S]*?```|`[^`\n]*`)/)
		.map((piece, at) =>
			at % 2 === 1
				? piece
				: piece
						.replaceAll("<", "&lt;")
						.replaceAll("{{", "&#123;&#123;")
						.replaceAll(/\{@link ([^}|\s]+)[^}]*\}/g, (_, name: string) => link(name)),
		)
		.join("");
}

/** Returns the first sentence of a docstring. */
export function summaryOf(doc: string): string {
	const [first = ""] = readDoc(doc).text.split("\n\n");
	const text = first.replaceAll(/\s*\n\s*/g, " ");
	return /^.+?[.](?=\s|$)/.exec(text)?.[0] ?? text;
}
