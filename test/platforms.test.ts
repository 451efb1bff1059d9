// That what runs elsewhere than on Node needs nothing of Node: its bundles are made as such platforms' tools make them.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { rolldown } from "rolldown";
import { expect, test } from "vitest";

const root = join(import.meta.dirname, "..");

/** A module for a platform without Node: all of it, what of that is loaded at once, and what it imports from outside. */
async function bundleFor(
	source: string,
): Promise<{ readonly code: string; readonly atOnce: string; readonly imports: readonly string[] }> {
	const entry = "\0entry";
	const build = await rolldown({
		input: entry,
		platform: "neutral",
		// What listens on Node is loaded when it listens.
		external: [/^node:/, "ws"],
		treeshake: true,
		resolve: { conditionNames: ["holdfast-source", "import", "default"], mainFields: ["module", "main"] },
		plugins: [
			{
				name: "entry",
				resolveId: (id, importer) => (id === entry ? entry : importer === entry ? join(root, id) : undefined),
				load: (id) => (id === entry ? source : undefined),
			},
		],
	});
	const { output } = await build.generate({ format: "esm", minify: true });
	await build.close();
	const chunks = output.filter((part) => part.type === "chunk");
	const parts = new Map(chunks.map((chunk) => [chunk.fileName, chunk]));
	const loaded = new Set<string>();
	const load = (fileName: string): void => {
		if (loaded.has(fileName) || !parts.has(fileName)) return;
		loaded.add(fileName);
		parts.get(fileName)?.imports.forEach(load);
	};
	for (const { fileName, isEntry } of chunks) if (isEntry) load(fileName);
	return {
		atOnce: [...loaded].map((fileName) => parts.get(fileName)?.code).join("\n"),
		code: chunks.map(({ code }) => code).join("\n"),
		imports: chunks.flatMap(({ imports, dynamicImports }) => [...imports, ...dynamicImports]),
	};
}

const entries = [
	"packages/core/src/index.ts",
	"packages/core/src/sql.ts",
	"packages/core/src/execute.ts",
	"packages/client/src/index.ts",
	"packages/cloudflare/src/index.ts",
];

for (const entry of entries)
	test(`${entry} imports nothing from Node at once`, async () => {
		const { imports } = await bundleFor(`export * from "${entry}";`);
		// The server's listener, which is loaded when it listens on Node, is all that may.
		expect(
			imports.filter((name) => name.startsWith("node:")).filter((name) => !/^node:(?:http|net)$/.test(name)),
		).toEqual([]);
	});

// Minified and compressed with gzip. A Worker is one file and has everything; a browser loads in parts: the AI SDK's adapter
// when a model of the AI SDK is first called; what sets plugins up, carries out a strategy with an `execute` of its own, or
// asks a model function, with the first of them.
test("an agent with a session stays within its size", async () => {
	const { code, atOnce } = await bundleFor(
		`import { Agent, memoryHost } from "packages/core/src/index.ts"; export default (options) => new Agent({ ...options, host: memoryHost() }).session("one");`,
	);
	const kilobytes = (text: string): number => gzipSync(text).length / 1024;
	expect(kilobytes(atOnce)).toBeLessThan(148);
	expect(kilobytes(code)).toBeLessThan(169);
	const page = readFileSync(join(root, "docs/guide/cloudflare.md"), "utf8").replaceAll("\n", " ");
	expect(page).toContain(`is ${Math.round(kilobytes(code))} KB as the single file of a Worker`);
	expect(page).toContain(`it is ${Math.round(kilobytes(atOnce))} KB until the first call`);
});
