// Which module a specifier means, and when a graph does not link.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { bench } from "./sandbox.fixture.ts";

const { run, value } = bench();

describe("imports", () => {
	test("are found by bare specifiers, with a default one and a namespace of exactly the given names [SA-146]", async () => {
		const imports = {
			fs: { readFile: (path: string) => `text of ${path}`, version: 3 },
			"@scope/pkg": { default: { a: 1 }, "not an identifier": 2 },
		};
		const source = `import { readFile, version } from "fs";
			import pkg, { "not an identifier" as odd } from "@scope/pkg";
			import * as ns from "@scope/pkg";
			export default [readFile("a"), version, pkg, odd, Object.keys(ns).sort()]`;
		expect(await value(source, { imports })).toEqual([
			"text of a",
			3,
			{ a: 1 },
			2,
			["default", "not an identifier"],
		]);
	});

	test("that are unknown, or lack a name, fail before any body runs [SA-147]", async () => {
		const ran: unknown[] = [];
		const globals = { ran: (at: unknown) => void ran.push(at) };
		const modules = {
			"./a.js": "ran('a'); export const here = 1",
			"./b.js": "ran('b'); import { gone } from './a.js'",
		};
		const imports = { known: { a: 1 } };
		for (const [line, specifier] of [
			["import 'unknown'", "unknown"],
			["import { b } from 'known'", "known"],
			["import known from 'known'", "known"],
			["import { gone } from './a.js'", "./a.js"],
			["import './b.js'", "./a.js"],
			["export { toString } from 'known'", "known"],
		] as const) {
			const outcome = await run(`import './a.js'; ran('entry'); ${line}`, { imports, modules, globals });
			expect(outcome, line).toMatchObject({ status: "link_error", error: { specifier } });
		}
		expect(ran).toEqual([]);
	});

	test.each([
		"https://a.b/c.js",
		"http://a/b",
		"data:text/javascript,export default 1",
		"file:///etc/passwd",
		"node:fs",
		"HTTPS://a",
	])("are never URLs, even if that key was given: %s [SA-148]", async (specifier) => {
		let ran = false;
		const globals = {
			ran: () => {
				ran = true;
			},
		};
		const outcome = await run(`ran(); import ${JSON.stringify(specifier)}`, {
			globals,
			imports: { [specifier]: { a: 1 } },
		});
		expect(outcome).toMatchObject({ status: "link_error", error: { specifier } });
		expect(ran).toBe(false);
	});

	test("and modules are separate: relative keys in one and bare keys in the other are not found [SA-149]", async () => {
		for (const specifier of ["./a.js", "a"]) {
			const outcome = await run(`import ${JSON.stringify(specifier)}`, {
				imports: { "./a.js": {} },
				modules: { a: "" },
			});
			expect(outcome).toMatchObject({ status: "link_error", error: { specifier } });
		}
		// Nor is a key of one taken for one of the other.
		const bare = await run('import "./a.js"', { modules: { "a.js": "" } });
		expect(bare).toMatchObject({ status: "link_error", error: { specifier: "./a.js" } });
		const both = {
			imports: { "./a.js": { default: "import" } },
			modules: { "./a.js": "export default 'module'" },
		};
		expect(await value("export { default } from './a.js'", both)).toBe("module");
	});
});

describe("modules", () => {
	test("are resolved relative to the entry, or to the root [SA-150]", async () => {
		const modules = { "./src/util.js": "export default 'src'", "./util.js": "export default 'root'" };
		const source = "import a from './util.js'; export default a";
		expect(await value(source, { modules, filename: "./src/main.ts" })).toBe("src");
		expect(await value(source, { modules, filename: "src/main.ts" })).toBe("src");
		expect(await value(source, { modules })).toBe("root");
		expect(
			await value("import a from '../util.js'; export default a", { modules, filename: "./src/main.ts" }),
		).toBe("root");
	});

	test("import siblings and parents, also in cycles, and each runs once [SA-151]", async () => {
		const modules = {
			"./a/one.js":
				"ran('one'); import { two } from '../b/two.js'; export const one = () => 1; export const sum = () => one() + two()",
			"./b/two.js": "ran('two'); import { one } from '../a/./one.js'; export const two = () => one() + 1",
		};
		const ran: unknown[] = [];
		const source =
			"import { sum } from './a/one.js'; import './b/two.js'; import './b/../b/two.js'; export default sum()";
		expect(await value(source, { modules, globals: { ran: (name: unknown) => void ran.push(name) } })).toBe(
			3,
		);
		expect(ran.sort()).toEqual(["one", "two"]);
	});

	test("can import the entry, which is the same module [SA-151]", async () => {
		const modules = {
			"./src/b.ts": "import * as entry from './main.ts'; export const get = () => entry.own",
		};
		const source = "import { get } from './b.ts'; export const own = {}; export default get() === own";
		expect(await value(source, { modules, filename: "./src/main.ts" })).toBe(true);
	});

	test("are never found above the root [SA-151]", async () => {
		for (const specifier of ["../a.js", "./b/../../a.js", "./../../etc/passwd"]) {
			const outcome = await run(`import ${JSON.stringify(specifier)}`, { modules: { "./a.js": "" } });
			expect(outcome).toMatchObject({ status: "link_error", error: { specifier } });
		}
	});

	test("are found by import() in the same way, and its failure can be caught [SA-152]", async () => {
		const source = `const seen = [];
			for (const name of ["./a.js", "given", "nowhere", "https://a.b/c", "./b.js", "../x.js"])
				try { seen.push(Object.keys(await import(name))) } catch (error) { seen.push(error instanceof Error) }
			export default seen`;
		const options = { modules: { "./a.js": "export const a = 1" }, imports: { given: { b: 2 } } };
		expect(await value(source, options)).toEqual([["a"], ["b"], true, true, true, true]);
		expect((await run("await import('nowhere')")).status).toBe("error");
		// From where the importing module lies.
		const modules = {
			"./src/deep/a.js": "export const load = (name) => import(name)",
			"./src/deep/b.js": "export default 'deep'",
			"./src/b.js": "export default 'src'",
			"./b.js": "export default 'root'",
		};
		const entry = `import { load } from "./deep/a.js";
			const names = ["./b.js", "../b.js", "../../b.js", "../../../b.js"];
			const found = await Promise.all(names.map((name) => load(name).then((module) => module.default, () => "none")));
			export default [(await import("./b.js")).default, ...found]`;
		expect(await value(entry, { modules, filename: "./src/main.js" })).toEqual([
			"src",
			"deep",
			"src",
			"root",
			"none",
		]);
	});

	test("in any graph link or fail, and every body runs at most once", async () => {
		const name = fc.constantFrom("a", "b", "c/d", "c/e");
		const specifier = fc.oneof(
			fc.constantFrom(
				"./a.js",
				"./b.js",
				"./c/d.js",
				"../a.js",
				"./d.js",
				"./e.js",
				"../../a.js",
				"bare",
				"https://x.y",
				"",
				".",
				"./",
				"\u0000",
				"__proto__",
				"./%2e%2e/a.js",
			),
			fc.string({ maxLength: 8 }),
		);
		const body = fc.array(specifier, { maxLength: 4 });
		await fc.assert(
			fc.asyncProperty(fc.dictionary(name, body, { maxKeys: 4 }), body, async (graph, entry) => {
				const ran: unknown[] = [];
				const text = (own: string, lines: readonly string[]): string =>
					`${lines.map((line) => `import ${JSON.stringify(line)};`).join("")} ran(${JSON.stringify(own)});`;
				const modules = Object.fromEntries(
					Object.entries(graph).map(([key, lines]) => [`./${key}.js`, text(key, lines)]),
				);
				const outcome = await run(`${text("entry", entry)} export default 1`, {
					modules,
					imports: { bare: {} },
					globals: { ran: (own: unknown) => void ran.push(own) },
				});
				expect(["success", "link_error"]).toContain(outcome.status);
				expect(new Set(ran).size).toBe(ran.length);
				if (outcome.status === "link_error") expect(ran).toEqual([]);
				else expect(ran.at(-1)).toBe("entry");
			}),
			{ numRuns: 150 },
		);
	});
});
