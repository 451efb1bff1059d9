/** Answers about names: what they are, where they are defined, and which ones a file defines. */
import { type Answer, type AnswerLine, blockLine } from "../answer.ts";
import { type Corpus, nameIn, type Unit } from "../corpus.ts";
import type { Question, Term } from "../question.ts";
import { stem, stemsOf, wordsOf } from "../words.ts";
import { answerPassages } from "./passages.ts";
import { blocksOf } from "./sections.ts";

/** Nouns for what code defines, by their stem, and the kinds of definition they mean. */
const KINDS: ReadonlyMap<string, RegExp> = new Map(
	Object.entries({
		function: /function|method/,
		method: /method|function/,
		class: /class/,
		exception: /class/,
		error: /class|constant/,
		interface: /interface/,
		enum: /enum/,
		constant: /constant/,
		struct: /struct/,
		trait: /trait/,
		macro: /macro/,
		table: /table/,
		target: /target/,
		export: /./,
		symbol: /./,
		definition: /./,
		type: /type|interface|enum|struct|class/,
	}).map(([noun, kinds]) => [stem(noun), kinds]),
);

/** Lists the functions, classes, … of the files that the question names. */
export function definitionsOfKind(
	corpus: Corpus,
	question: Question,
	focus: readonly string[],
): Answer | undefined {
	const files = corpus.documents.filter(
		(document) =>
			document.kind === "code" &&
			(question.files.includes(document.path) ||
				question.directories.some((directory) => document.path.startsWith(`${directory}/`))),
	);
	const kind = focus.map((word) => KINDS.get(stem(word))).find((found) => found !== undefined);
	if (files.length === 0 || !kind) return undefined;
	const exported = /\bexport|\bpublic\b/i.test(question.task);
	const asked = new Set(focus.map(stem));
	const modifiers = question.terms.filter(
		(term) => !term.weak && !term.stems.every((one) => asked.has(one)) && !/^export|^public/.test(term.text),
	);
	const units = corpus.units.filter(({ document, block }) => {
		if (!files.includes(document) || block.kind !== "definition" || !kind.test(block.defines ?? ""))
			return false;
		if (/property/.test(block.defines ?? "") || (block.depth > 0 && !/method/.test(block.defines ?? "")))
			return false;
		return !exported || /\bexports?\b|\bpub\b|\bpublic\b/.test(signature(block.text));
	});
	if (
		units.length === 0 ||
		modifiers.some((term) => !units.some((unit) => unit.own.has(term.stems[0] ?? "")))
	)
		return undefined;
	const phrase = focus.join(" ");
	return {
		confidence: 0.9,
		lines: [
			{
				text: `${phrase.charAt(0).toUpperCase()}${phrase.slice(1)} in ${files.map(({ path }) => path).join(", ")} (${units.length}):`,
				kind: "plain",
			},
			...units.map(
				({ document, block }): AnswerLine => ({
					...blockLine(document, block),
					text: shortDefinition(block.text),
				}),
			),
		],
	};
}

function signature(text: string): string {
	return text.slice(text.lastIndexOf("\n") + 1);
}

function shortDefinition(text: string): string {
	const line = signature(text).replace(/\s*\{\s*$/, "");
	const docs = text.slice(0, Math.max(0, text.lastIndexOf("\n"))).split(/(?<=\.)\s/)[0] ?? "";
	return docs === "" ? line : `${line} — ${docs}`;
}

const MEMBERS =
	/^(?:columns?|fields?|properties|members?|attributes?|variants?|values|keys?|methods?|parameters?|arguments?|options?)$/i;

/** "Which columns does the table X have?": what stands inside the definition of X. */
export function answerMembers(corpus: Corpus, question: Question): Answer | undefined {
	const subject = subjectOf(question);
	if (!subject || !question.focus.some((word) => MEMBERS.test(word))) return undefined;
	const holder = findDefinitions(corpus, subject).find(
		({ block }) =>
			block.endLine > block.line &&
			/table|class|interface|type|enum|struct|record|constant|object/.test(block.defines ?? ""),
	);
	if (!holder) return undefined;
	return { confidence: 0.8, lines: [definitionLine(holder), ...bodyLines([holder])] };
}

/** Says what a name is: its definition with the comment above it, then what the texts say of it. */
export function answerDefinition(corpus: Corpus, question: Question): Answer | undefined {
	const name = subjectOf(question);
	if (!name) return defineTerm(corpus, question);
	const names = question.terms.filter((term) => term.exact);
	// Two things side by side are told one after the other.
	if (names.length > 1 && /\bdifferen|\bcompare|\bversus\b|\bvs\b/i.test(question.task)) {
		const each = names.map((one) => defineName(corpus, one, question));
		return each.every((answer) => answer !== undefined)
			? { confidence: 0.8, lines: each.flatMap((answer) => answer?.lines ?? []) }
			: undefined;
	}
	return defineName(corpus, name, question);
}

function defineName(corpus: Corpus, name: Term, question: Question): Answer | undefined {
	const definitions = findDefinitions(corpus, name);
	const prose = corpus.units.filter(
		({ document, block }) =>
			document.kind !== "code" &&
			block.label !== "" &&
			nameIn(name.text, block.label.toLowerCase()) &&
			block.label.length < name.text.length + 40,
	);
	const lines: AnswerLine[] = [];
	const told = definitions.filter(({ block }) => block.text.includes("\n"));
	const headings = prose.filter(({ block }) => block.kind === "heading");
	lines.push(...told.slice(0, 3).map(definitionLine));
	for (const { document, block } of headings.slice(0, 1)) {
		lines.push({ text: block.text, cite: { path: document.path, line: block.line }, kind: "plain" });
		for (const below of blocksOf(document, block.section).slice(0, 6))
			if (below.kind !== "heading") lines.push(blockLine(document, below, 1));
	}
	if (headings.length === 0)
		for (const unit of prose.slice(0, 3))
			lines.push(blockLine(unit.document, unit.block), ...commentsAbove(unit));
	// A value given to a name says little about it; it stands last, and only where the texts say nothing.
	const silent = definitions.filter(
		({ block }) =>
			!told.some((unit) => unit.block === block) && (lines.length === 0 || block.defines !== "property"),
	);
	if (lines.length === 0) {
		const said = answerPassages(corpus, question, undefined, ({ document }) => document.kind === "prose");
		lines.push(...(said?.lines ?? []).slice(0, 12));
	}
	if (told.length < 2) lines.push(...silent.slice(0, 2).map(definitionLine));
	if (lines.length === 0) return name.exact ? undefined : defineTerm(corpus, question);
	const documented = definitions.some(({ block }) => block.text.includes("\n")) || prose.length > 0;
	if (!documented && definitions.length > 0 && lines.length < 4) lines.push(...bodyLines(definitions));
	return { confidence: 0.9, lines };
}

/** The comment right above an entry of a data file, in its paragraphs. */
function commentsAbove({ document, block, index }: Unit): AnswerLine[] {
	const lines: AnswerLine[] = [];
	let start = block.line;
	for (let at = index - 1; at >= 0 && lines.length < 6; at--) {
		const above = document.blocks[at];
		if (block.kind !== "entry" || above?.kind !== "paragraph" || above.endLine < start - 2) break;
		lines.unshift(blockLine(document, above, 1));
		start = above.line;
	}
	return lines;
}

/** The name a question is about, if it is about one. */
export function subjectOf(question: Question): Term | undefined {
	return question.terms.find((term) => term.exact) ?? question.terms.find((term) => term.named === true);
}

/** Definitions of a name, the best ones first. */
export function findDefinitions(corpus: Corpus, name: Term): Unit[] {
	const last = name.text.replace(/^.*(?:\.|::|#|->)/, "");
	const owner = name.text
		.slice(0, Math.max(0, name.text.length - last.length))
		.replace(/(?:\.|::|#|->)$/, "")
		.toLowerCase();
	const all = corpus.units.filter(
		({ block, ownText, aroundText, document }) =>
			block.kind === "definition" &&
			block.label.toLowerCase() === last.toLowerCase() &&
			(owner === "" ||
				ownText.includes(`${owner}.`) ||
				aroundText.includes(owner) ||
				document.path.toLowerCase().includes(owner)),
	);
	const exact = all.filter(({ block }) => block.label === last);
	return (exact.length > 0 ? exact : all)
		.filter(
			({ block }, _index, found) =>
				block.defines !== "property" || found.every((unit) => unit.block.defines === "property"),
		)
		.sort((left, right) => rank(right) - rank(left))
		.filter(({ block }, index, found) => found.findIndex((unit) => unit.block.text === block.text) === index);
}

function rank({ document, block }: Unit): number {
	const text = signature(block.text);
	return (
		(block.text.includes("\n") ? 2 : 0) +
		(/constant|property/.test(block.defines ?? "") ? 0 : 1.5) +
		(/\bexports?\b|\bpub\b|\bpublic\b/.test(text) ? 1.5 : 0) -
		(/(?:^|\/)(?:tests?|__tests__|spec|examples?|dist|build|cjs|esm|umd|fixtures?)\/|\.(?:test|spec|min)\.|\.d\.[cm]?ts$/.test(
			document.path,
		)
			? 2
			: 0) -
		0.1 * block.depth -
		0.05 * document.path.split("/").length
	);
}

/** A definition as a line: the signature, its place, and the comment. */
export function definitionLine({ document, block }: Unit): AnswerLine {
	const text = block.text;
	const docs = withoutTags(text.includes("\n") ? text.slice(0, text.lastIndexOf("\n")) : "");
	return {
		text: docs === "" ? signature(text) : `${signature(text)} — ${docs}`,
		cite: { path: document.path, line: block.line },
		kind: "item",
	};
}

/** The sentences of a comment, and of its tags what it returns. */
function withoutTags(docs: string): string {
	const first = docs.search(/\s@\w+\b|^@\w+\b/);
	if (first < 0) return docs;
	const returns = /@returns?\s+(?:\{[^}]*\}\s*)?([^@]+)/.exec(docs);
	return `${docs.slice(0, first).trim()}${returns ? ` Returns ${(returns[1] as string).trim()}` : ""}`.trim();
}

/** Without a comment the code itself is the answer. */
function bodyLines(definitions: readonly Unit[]): AnswerLine[] {
	const first = definitions[0];
	if (!first) return [];
	const { document, block } = first;
	const text = document.lines
		.slice(block.line - 1, Math.min(block.endLine, block.line + 24))
		.map((line) => line ?? "")
		.join("\n");
	return [{ text, kind: "code" }];
}

/** "What is a lease?": the section of that title, or the sentence that says what it is. */
function defineTerm(corpus: Corpus, question: Question): Answer | undefined {
	const wanted = question.terms.filter((term) => !term.weak);
	if (wanted.length === 0) return undefined;
	const stems = wanted.flatMap((term) => term.stems);
	const titled = corpus.units.filter(({ block }) => {
		if (block.label === "" || (block.kind === "item" && block.label.length > 40)) return false;
		const label = stemsOf(block.label);
		return stems.every((one) => label.has(one)) && label.size <= stems.length + 1;
	});
	const order = ["heading", "definition", "item", "row", "entry", "paragraph", "code"];
	titled.sort((left, right) => order.indexOf(left.block.kind) - order.indexOf(right.block.kind));
	const says = corpus.units.filter(
		({ block, document }) =>
			document.kind !== "data" &&
			(block.kind === "paragraph" || block.kind === "item") &&
			saysWhatItIs(block.text, stems),
	);
	const lines: AnswerLine[] = says.slice(0, 2).map(({ block, document }) => blockLine(document, block));
	const first = titled[0];
	if (first?.block.kind === "heading") {
		lines.push({
			text: first.block.text,
			cite: { path: first.document.path, line: first.block.line },
			kind: "plain",
		});
		for (const below of blocksOf(first.document, first.block.section)
			.filter(({ kind }) => kind !== "heading")
			.slice(0, 6))
			lines.push(blockLine(first.document, below, 1));
	} else
		for (const unit of titled.slice(0, 3))
			lines.push(
				unit.block.kind === "definition" ? definitionLine(unit) : blockLine(unit.document, unit.block),
			);
	return lines.length > 0 ? { confidence: 0.75, lines } : undefined;
}

function saysWhatItIs(text: string, stems: readonly string[]): boolean {
	const match =
		/^(?:an?\s+|the\s+)?(.{1,60}?)\s+(?:is|are|means|refers to|stands for|provides|lets|allows)\b/i.exec(
			text,
		);
	if (!match) return false;
	const subject = wordsOf(match[1] as string)
		.map(stem)
		.filter((one) => one.length > 1);
	return stems.every((one) => subject.includes(one)) && subject.length <= stems.length + 2;
}
