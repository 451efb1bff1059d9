// What runs of a module, in which language, and how its outcome is reported.
import { describe, expect, test } from "vitest";
import { bench } from "./sandbox.fixture.ts";

const { sandbox, run, value } = bench();

describe("the export that runs", () => {
	test("is the default one: a value is the result, a function is called without arguments [SA-140]", async () => {
		expect(await value("export default { a: 1 }")).toEqual({ a: 1 });
		expect(await value("export default (...given) => given.length")).toBe(0);
	});

	test("is called with the given arguments, by name or the default one [SA-141]", async () => {
		const source = "export const increment = (a) => a + 1; export default (...given) => given";
		expect(await value(source, { execute: { fn: "increment", args: [100] } })).toBe(101);
		expect(await value(source, { execute: { args: [1, "b"] } })).toEqual([1, "b"]);
	});

	test("is awaited if it is or returns a promise [SA-142]", async () => {
		expect(await value("export default (async () => 5)()")).toBe(5);
		expect(await value("export default async () => { await 0; return 6 }")).toBe(6);
		expect(await value("export default { then(resolve) { resolve(7) } }")).toBe(7);
		const outcome = await run("export default () => Promise.reject(new TypeError('no'))");
		expect(outcome).toMatchObject({ status: "error", error: { name: "TypeError", message: "no" } });
	});

	test("accepts arguments only if it is a function [SA-143]", async () => {
		const source = "export const a = 3";
		expect(await value(source, { execute: { fn: "a" } })).toBe(3);
		expect(await value(source, { execute: { fn: "a", args: [] } })).toBe(3);
		expect((await run(source, { execute: { fn: "a", args: [1] } })).status).toBe("error");
	});

	test.each([
		["", {}, "default"],
		["export const a = 1", {}, "default"],
		["export default 1", { fn: "missing" }, "missing"],
		["export default 1", { fn: "toString" }, "toString"],
	])("that does not exist is a link error that names it: %j %j [SA-144]", async (source, execute, name) => {
		const outcome = await run(source, { execute });
		expect(outcome).toMatchObject({ status: "link_error", error: { specifier: "<runCode>" } });
		expect(outcome.error?.message).toContain(`"${name}"`);
	});

	test("can resolve to undefined, which is a success without an error; others have an error and no result [SA-145]", async () => {
		const good = await run("export default () => {}");
		expect(good.status).toBe("success");
		expect("error" in good).toBe(false);
		for (const [status, source] of [
			["error", "throw 1"],
			["link_error", "import 'x'"],
			["error", "export default Symbol()"],
			["memory", "new ArrayBuffer(1e9)"],
			["terminated", "stop(); for (;;);"],
		] as const) {
			const handle = sandbox.runCode(source, { globals: { stop: () => handle.terminate() } });
			const bad = await handle;
			expect(bad.status, source).toBe(status);
			expect(bad.error?.message, source).toBeTruthy();
			expect("result" in bad, source).toBe(false);
		}
	});

	test("that can never be settled is an error", async () => {
		expect((await run("await new Promise(() => {})")).status).toBe("error");
		expect((await run("export default () => new Promise(() => {})")).status).toBe("error");
	});
});

describe("types", () => {
	test("are erased and not checked [SA-157]", async () => {
		const source = `
			interface A { b: string }
			type C<T> = T | undefined;
			import type { Nothing } from "nowhere";
			import { type Other } from "given";
			function id<T>(value: T): T { return value }
			const wrong: number = "text";
			const b = (id<string>(wrong as unknown as string) satisfies string)!;
			declare const gone: A;
			export default b;`;
		expect(await value(source, { imports: { given: {} } })).toBe("text");
	});

	test("that emit code are compiled: enums and parameter properties, in every module [SA-158]", async () => {
		const source = `export enum Color { Red, Green = 5 }
			export class Point { constructor(public readonly x: number, private y = 2) {} sum() { return this.x + this.y } }`;
		const probe = "[Color.Green, Color[0], new Point(3).sum(), Object.keys(new Point(1))]";
		const wanted = [5, "Red", 5, ["x", "y"]];
		expect(await value(`${source}\nexport default ${probe}`)).toEqual(wanted);
		const entry = `import { Color, Point } from "./lib.ts"; export default ${probe}`;
		expect(await value(entry, { modules: { "./lib.ts": source } })).toEqual(wanted);
	});

	test("never remove an import: an unknown name fails even if it is unused [SA-147]", async () => {
		for (const code of ["enum A { B }", ""]) {
			const outcome = await run(`import { unused } from "given"; ${code} export default 1`, {
				imports: { given: {} },
			});
			expect(outcome).toMatchObject({ status: "link_error", error: { specifier: "given" } });
		}
	});

	test("are TypeScript's by default, and a parse error in JavaScript [SA-159]", async () => {
		expect(await value("const a: number = 1; export default a")).toBe(1);
		const outcome = await run("const a: number = 1; export default a", { language: "javascript" });
		expect(outcome).toMatchObject({ status: "link_error", error: { name: "SyntaxError", line: 1 } });
	});
});

describe("an error", () => {
	test("keeps its name and message, and another value its text [SA-171]", async () => {
		expect((await run("throw new RangeError('far')")).error).toMatchObject({
			name: "RangeError",
			message: "far",
		});
		expect((await run("class Mine extends Error { name = 'Mine' } throw new Mine('m')")).error).toMatchObject(
			{ name: "Mine", message: "m" },
		);
		for (const [thrown, text] of [
			["'text'", "text"],
			["7", "7"],
			["undefined", "undefined"],
			["null", "null"],
			["Symbol('s')", "Symbol(s)"],
			["{ toString: () => 'own' }", "own"],
		])
			expect((await run(`throw ${thrown}`)).error?.message, thrown).toBe(text);
	});

	test("has only frames of the sandbox, even if a bridge threw it [SA-172]", async () => {
		const globals = {
			fail() {
				throw new TypeError("bridge");
			},
			later: () => Promise.reject(new Error("bridge")),
		};
		for (const source of [
			"fail()",
			"await later()",
			"[1].map(() => fail())",
			"throw new Error('own')",
			"null.x",
			"import('nowhere')",
		]) {
			const { error } = await run(
				`function outer() { return ${source.replace("await ", "")} }\nawait outer()`,
				{ globals },
			);
			expect(error?.message).toBeTruthy();
			expect(JSON.stringify(error)).not.toMatch(/file:|node:|node_modules|packages|<sandbox>|holdfast|\.ts/);
		}
	});

	test("has line and column of the original source [SA-173]", async () => {
		const typed = "interface A {\n\tb: string }\n  const x: A = (() => { throw new Error('here') })();";
		expect((await run(typed)).error).toMatchObject({
			line: 3,
			column: (typed.split("\n")[2]?.indexOf("Error(") as number) + 1,
			filename: "<runCode>",
		});
		expect((await run("\n\nthrow new Error('x')")).error).toMatchObject({ line: 3 });
		expect((await run("enum A { B,\n C }\nthrow new Error('x')")).error).toMatchObject({ line: 3 });
		// Code that replaces an enum or types shifts the rest of its line, but not the positions of errors.
		const moved =
			"enum A { B } class P { constructor(public a: number, b: string) { throw new Error('p'); } }\nconst x: number = 1; f<string>(x);\nfunction f<T>(given: T) { return new P(1, 'b'); }";
		const lines = moved.split("\n");
		const { error } = await run(moved);
		expect(error).toMatchObject({ line: 1, column: (lines[0]?.indexOf("Error(") as number) + 1 });
		expect(error?.stack).toContain(`(<runCode>:3:${(lines[2]?.indexOf("P(") as number) + 1})`);
		expect(await run("enum A { B }\nconst x: number = 1; let x = 2;")).toMatchObject({
			status: "link_error",
			error: { line: 2, column: "const x: number = 1; let x =".length },
		});
		expect(await run("const a = 1;\nlet b = ;")).toMatchObject({
			status: "link_error",
			error: { line: 2, column: 9, filename: "<runCode>" },
		});
		expect(await run("const a = 1;\nlet b = ;", { language: "javascript" })).toMatchObject({
			status: "link_error",
			error: { line: 2, column: 9, filename: "<runCode>" },
		});
	});

	test("is located by the file name, or by the module's specifier [SA-174]", async () => {
		const thrown = "export function f() { throw new Error('x') }\nf()";
		expect((await run(thrown)).error).toMatchObject({
			filename: "<runCode>",
			stack: expect.stringContaining("<runCode>:1:"),
		});
		expect((await run(thrown, { filename: "./src/main.ts" })).error).toMatchObject({
			filename: "./src/main.ts",
			stack: expect.stringContaining("(./src/main.ts:1:"),
		});
		const inModule = await run("import './lib/a.ts'", { modules: { "./lib/a.ts": thrown } });
		expect(inModule.error).toMatchObject({
			filename: "./lib/a.ts",
			stack: expect.stringContaining("(./lib/a.ts:1:"),
		});
		const broken = await run("import './lib/a.ts'", { modules: { "./lib/a.ts": "let a = ;" } });
		expect(broken).toMatchObject({
			status: "link_error",
			error: { filename: "./lib/a.ts", specifier: "./lib/a.ts" },
		});
	});
});

test("a handle runs from its creation, and gives the same result to everyone [SA-170]", async () => {
	let calls = 0;
	const handle = sandbox.runCode("touch(); throw new Error('no')", {
		globals: { touch: () => void calls++ },
	});
	expect(handle.running).toBe(true);
	// The run was not awaited yet.
	await expect.poll(() => [calls, handle.running]).toEqual([1, false]);
	const first = await handle;
	expect(handle.running).toBe(false);
	expect(await handle).toBe(first);
	expect(first.status).toBe("error");
	expect(calls).toBe(1);
});

test("every status has a duration, and the memory used if it could be measured [SA-184]", async () => {
	const sources = {
		success: "export default 1",
		error: "throw 1",
		link_error: "import 'x'",
		memory: "new ArrayBuffer(1e9)",
	};
	for (const [status, source] of Object.entries(sources)) {
		const started = performance.now();
		const outcome = await run(source);
		expect(outcome.status).toBe(status);
		expect(outcome.durationMs).toBeGreaterThanOrEqual(0);
		expect(outcome.durationMs).toBeLessThanOrEqual(performance.now() - started + 1);
		expect(Number.isInteger(outcome.memoryUsedBytes) && (outcome.memoryUsedBytes ?? 0) > 0).toBe(true);
	}
	const handle = sandbox.runCode("stop(); for (;;);", { globals: { stop: () => handle.terminate() } });
	const { status, durationMs, memoryUsedBytes = 1 } = await handle;
	expect(status).toBe("terminated");
	expect(durationMs).toBeGreaterThanOrEqual(0);
	expect(Number.isInteger(memoryUsedBytes) && memoryUsedBytes > 0).toBe(true);
	const large = await run("export default (() => { globalThis.kept = new Uint8Array(2e7) })()");
	expect(large.memoryUsedBytes).toBeGreaterThan(2e7);
	const seen: number[] = [];
	const look = async () => {
		await new Promise((resolve) => setTimeout(resolve, 20));
		seen.push(performance.now());
	};
	const waited = await run("await look(); await look()", { globals: { look } });
	expect(waited.durationMs).toBeGreaterThanOrEqual((seen[1] as number) - (seen[0] as number));
});

test.each([
	{ execute: { fn: 1 } },
	{ execute: { args: "a" } },
	{ language: "python" },
	{ report: 1 },
	{ globals: { "not-a-name": 1 } },
	{ globals: { await: 1 } },
	{ imports: { a: null } },
	{ modules: { "./a": 1 } },
])("invalid options are rejected before anything runs: %j", (options) => {
	expect(() => sandbox.runCode("", options as never)).toThrow(
		expect.objectContaining({ code: "invalid_code_options" }),
	);
});

test("a value that is not data is rejected before anything runs", () => {
	expect(() => sandbox.runCode("", { globals: { a: Symbol() } })).toThrow(
		expect.objectContaining({ code: "value_not_transferable" }),
	);
});

describe("a reproducible run", () => {
	const source = "export default () => [Math.random(), Math.random(), Date.now(), new Date().getTime()]";

	test("has the random numbers and the times of its seed and its start", async () => {
		const first = await value(source, { reproducible: { seed: 1, now: 1_700_000_000_000 } });
		expect(await value(source, { reproducible: { seed: 1, now: 1_700_000_000_000 } })).toEqual(first);
		const [a, b, at, later] = first as readonly number[];
		expect([at, later]).toEqual([1_700_000_000_000, 1_700_000_000_001]);
		const [other] = (await value(source, { reproducible: { seed: 2, now: 0 } })) as readonly number[];
		expect(new Set([a, b, other]).size).toBe(3);
	});

	test("ends a loop that waits for the clock", async () => {
		const waits =
			"export default () => { const end = Date.now() + 500; while (Date.now() < end); return 'over'; }";
		expect(await value(waits, { reproducible: { seed: 1, now: 0 } })).toBe("over");
	});

	test("leaves later runs their own clock and seed", async () => {
		const [, , at] = (await value(source)) as readonly number[];
		expect(Math.abs(Number(at) - Date.now())).toBeLessThan(60_000);
	});

	test.each([
		{ seed: -1, now: 0 },
		{ seed: 0.5, now: 0 },
		{ seed: 2 ** 32, now: 0 },
		{ seed: 1, now: Number.NaN },
	])("rejects %j", (reproducible) => {
		expect(() => sandbox.runCode("", { reproducible })).toThrow("reproducible.");
	});
});
