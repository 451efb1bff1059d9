// What bundled code looks like when it is shipped, and that its source map follows each change.
import { SourceMap } from "node:module";
import { join } from "node:path";
import { expect, test } from "vitest";
import { type BundledFile, bundlePackage } from "../tools/bundle-package.ts";
import { shippedCode } from "../tools/shipped-code.ts";
import { readWorkspaces } from "../tools/workspaces.ts";

const root = join(import.meta.dirname, "..");
const ship = (code: string): string => shippedCode(code, "").code;

test("a short expression is on one line", () => {
	const code = "function one() {\n\treturn { data: {\n\t\tkey,\n\t\tseq\n\t} };\n}\n";
	expect(ship(code)).toBe("function one() {\n\treturn { data: { key, seq } };\n}\n");
});

test.each([
	["a long expression", `const one = [\n\t${"name,".repeat(30)}\n\tname\n];\n`],
	["a template", "const one = [\n\t`a\n\t\tb`,\n\t2\n];\n"],
	["a comment", "const one = [\n\t1, // first\n\t2\n];\n"],
	["a function with statements", "call({\n\tbe() {\n\t\treturn 1;\n\t}\n});\n"],
])("the lines of %s stay", (_, code) => {
	expect(ship(code)).toBe(code);
});

test("a module names its file within its package, and other text with such a path stays", () => {
	const code = 'const path = "// packages/core/src/one.ts";\n// packages/core/src/one.ts\nconst one = 1;\n';
	expect(ship(code)).toBe('const path = "// packages/core/src/one.ts";\n// src/one.ts\nconst one = 1;\n');
});

test("characters outside of ASCII are escaped, and mean the same", () => {
	const code = "export default [`…1…`, '😀'.length, /^[…]$/.test('…'), /^.$/u.test('😀')];\n";
	const shipped = ship(code);
	expect(shipped).toMatch(/^[\0-\x7f]*$/);
	const value = (text: string): unknown => new Function(text.replace("export default", "return"))();
	expect(value(shipped)).toEqual(value(code));
	expect(value(shipped)).toEqual(["…1…", 2, true, true]);
});

const bundled = new Map<string, readonly BundledFile[]>();
for (const workspace of readWorkspaces(root))
	if (["upp", "core"].includes(workspace.folder))
		bundled.set(workspace.name, await bundlePackage(root, workspace));

test("source maps lead each name of the shipped code to the same name in the sources", () => {
	let [right, wrong] = [0, 0];
	for (const { code, map } of [...bundled.values()].flat()) {
		if (map === undefined) continue;
		const sources = new Map(
			map.sources.map((source, at) => [source, map.sourcesContent?.[at]?.split("\n") ?? []]),
		);
		const mapped = new SourceMap({ ...map, file: map.file ?? "", sourceRoot: "" });
		for (const [line, text] of code.split("\n").entries())
			for (const { index, 0: name } of text.matchAll(/(?<![\w#$\\])[a-z]\w{5,}\b/g)) {
				const entry = mapped.findEntry(line, index);
				if (!("originalSource" in entry) || entry.generatedColumn !== index || entry.generatedLine !== line)
					continue;
				const source = sources.get(entry.originalSource)?.[entry.originalLine] ?? "";
				if (source.startsWith(name, entry.originalColumn)) right++;
				else wrong++;
			}
	}
	// A function is mapped to the `export` before it, and a renamed name to the original.
	expect(right).toBeGreaterThan(30_000);
	expect(wrong / right).toBeLessThan(0.03);
});

/** The files that are loaded when a package is imported. */
function loadedBy(name: string, fileName = "index.js", found = new Set<BundledFile>()): Set<BundledFile> {
	const file = bundled.get(name)?.find((each) => each.fileName === fileName);
	if (file === undefined || found.has(file)) return found;
	found.add(file);
	for (const imported of file.imports)
		if (bundled.has(imported)) loadedBy(imported, "index.js", found);
		else loadedBy(name, imported, found);
	return found;
}

// V8 parses all of it when the package is imported, at about 20 ms of CPU per megabyte.
test("importing holdfast parses few bytes, all of them ASCII", () => {
	const files = [...loadedBy("holdfast")];
	expect(files.map(({ fileName }) => fileName)).toContain("index.js");
	for (const { fileName, code } of files) expect(code, fileName).toMatch(/^[\0-\x7f]*$/);
	expect(files.reduce((sum, { code }) => sum + code.length, 0)).toBeLessThan(912_000);
});
