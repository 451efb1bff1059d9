// Extracts the TypeScript examples from the documents and the docstrings into .examples/, each into a separate file in
// which every line keeps its number, so that a compiler error refers to the line of the document.
//
// In Markdown an example is a fenced block marked `ts`; `ts no-run` compiles but does not run. Lines hidden from readers
// are in a comment directly before the block: `<!-- preamble`, its lines, `-->`. In a source it is the text after
// `@example`, fenced or not; there the public names of its own package and zod's `z` count as imported.
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { listFiles, listSources } from "../list-sources.ts";
import { readExportedNames } from "../read-exports.ts";
import { readWorkspaces, type Workspace } from "../workspaces.ts";

/** One example, ready to compile. */
export interface Example {
	/** Its document or source, relative to the root of the repository. */
	readonly origin: string;
	/** Line of its first line there, from 1. */
	readonly line: number;
	readonly run: "run" | "compile-only";
	/** The code, preceded by one empty line for each earlier line of its origin. */
	readonly code: string;
}

const opening = /^```(?:ts|typescript)(?<info>(?:\s.*)?)$/;

/** Extracts the examples of a Markdown text. */
export function extractFromMarkdown(origin: string, text: string): readonly Example[] {
	const lines = text.split("\n");
	const examples: Example[] = [];
	let preamble: string[] = [];
	for (let at = 0; at < lines.length; at++) {
		const line = lines[at] ?? "";
		if (line.startsWith("<!-- preamble")) {
			const end = lines.indexOf("-->", at);
			if (end < 0) throw new Error(`${origin}:${at + 1}: the preamble is never closed with -->`);
			preamble = [...Array<string>(at + 1).fill(""), ...lines.slice(at + 1, end)];
			at = end;
			continue;
		}
		const block = opening.exec(line);
		if (block !== null) {
			const end = lines.indexOf("```", at + 1);
			if (end < 0) throw new Error(`${origin}:${at + 1}: the block is never closed`);
			const before = [...preamble, ...Array<string>(at + 1 - preamble.length).fill("")];
			examples.push(toExample(origin, block.groups?.info ?? "", before, lines.slice(at + 1, end)));
			at = end;
		}
		if (line.trim() !== "") preamble = [];
	}
	return examples;
}

/** Names that the docstrings of a package may use without an import, each with its module. */
export type KnownNames = ReadonlyMap<string, string>;

/** Extracts the examples in the docstrings of a source. */
export function extractFromSource(
	origin: string,
	text: string,
	known: KnownNames = new Map(),
): readonly Example[] {
	const examples: Example[] = [];
	for (const comment of text.matchAll(/\/\*\*[\s\S]*?\*\//g)) {
		const first = text.slice(0, comment.index).split("\n").length - 1;
		const lines = comment[0].split("\n").map((line) => line.replace(/^\s*(?:\/\*\*|\*\/|\* ?)/, ""));
		for (let at = 0; at < lines.length; at++) {
			if (!lines[at]?.trimStart().startsWith("@example")) continue;
			const next = lines.findIndex((line, place) => place > at && line.startsWith("@"));
			const end = next < 0 ? lines.length : next;
			examples.push(...extractFromDocstring(origin, first, lines.slice(0, end), at + 1));
			at = end - 1;
		}
	}
	return examples.map((example) => ({ ...example, code: importKnown(example.code, known) }));
}

/** Adds imports of known names that the code uses but does not import to its empty first line. */
function importKnown(code: string, known: KnownNames): string {
	const used = [...known].filter(([name]) => {
		const word = new RegExp(String.raw`(?<![\w.$])${name}(?![\w$])`);
		const own = new RegExp(String.raw`^import\b[^;]*\b${name}\b`, "m");
		return word.test(code) && !own.test(code);
	});
	return used.map(([name, from]) => `import { ${name} } from "${from}"; `).join("") + code;
}

function extractFromDocstring(
	origin: string,
	first: number,
	lines: readonly string[],
	start: number,
): readonly Example[] {
	const body = lines.slice(start);
	const before = Array<string>(first + start).fill("");
	if (body.some((line) => line.startsWith("```"))) {
		return extractFromMarkdown(origin, [...before, ...body].join("\n"));
	}
	const code = body.map((line) => (line === "/" ? "" : line));
	return [toExample(origin, "", before, code)];
}

function toExample(
	origin: string,
	info: string,
	before: readonly string[],
	code: readonly string[],
): Example {
	return {
		origin,
		line: before.length + 1,
		run: info.trim() === "no-run" ? "compile-only" : "run",
		code: [...before, ...code, "export {};", ""].join("\n"),
	};
}

/** Returns all examples of the repository, ordered by location. */
export function findExamples(root: string): readonly Example[] {
	const read = (file: string): string => readFileSync(join(root, file), "utf8");
	const papers = listFiles(root, ".md").filter((file) => !/^(?:packages|bench|test|tools)\//.test(file));
	const readmes = listFiles(root, "README.md").filter((file) => file.startsWith("packages/"));
	const inPapers = [...papers, ...readmes].flatMap((file) => extractFromMarkdown(file, read(file)));
	const inSources = readWorkspaces(root).flatMap((workspace) => {
		const known = knownNames(root, workspace);
		return listSources(root)
			.filter((file) => file.startsWith(`packages/${workspace.folder}/`) && !/\.test(?:-d)?\.ts$/.test(file))
			.flatMap((file) => extractFromSource(file, read(file), known));
	});
	return [...inPapers, ...inSources];
}

function knownNames(root: string, { folder, entries }: Workspace): KnownNames {
	const known = new Map([["z", "zod"]]);
	for (const { specifier, source } of entries) {
		for (const [name, kind] of readExportedNames(join(root, "packages", folder, source))) {
			if (!known.has(name) && kind === "value") known.set(name, specifier);
		}
	}
	return known;
}

/** Returns the name of an example's file inside .examples/. */
export function exampleFile({ origin, line }: Example): string {
	return `${origin.replaceAll("/", "~")}.${line}.ts`;
}

/** Writes every example and a tsconfig.json for them into .examples/, replacing earlier contents. */
export function writeExamples(root: string): readonly Example[] {
	const folder = join(root, ".examples");
	const examples = findExamples(root);
	// The files of the template that the tutorial starts with.
	const script = "packages/create-holdfast/templates/script";
	const configuration = { extends: "../tsconfig.test.json", include: ["*.ts"], exclude: [] };
	const files = new Map(examples.map((example) => [exampleFile(example), example.code]));
	for (const name of ["agent.ts", "model.ts", "offline.ts"])
		files.set(name, readFileSync(join(root, script, name), "utf8"));
	files.set("tsconfig.json", JSON.stringify(configuration));
	mkdirSync(folder, { recursive: true });
	for (const name of readdirSync(folder)) {
		if (!files.has(name)) rmSync(join(folder, name), { recursive: true });
	}
	for (const [name, code] of files) {
		const place = join(folder, name);
		if (!existsSync(place) || readFileSync(place, "utf8") !== code) writeFileSync(place, code);
	}
	return examples;
}
