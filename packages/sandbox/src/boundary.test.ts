// What can be passed between host and guest, and how: as copies, as capabilities, or not at all.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { bench } from "./sandbox.fixture.ts";

const { sandbox, run, value } = bench();

/** Sends a value into the guest, has it look, and gets it back. */
const echo = (given: unknown): Promise<unknown> =>
	value("export default (given) => given", { execute: { args: [given] } });

test("globals are identifiers in all modules, but not properties of the global object [SA-153]", async () => {
	const source = `import { there } from "./a.js";
		export default [given.a, there, "given" in globalThis, Object.getOwnPropertyNames(globalThis).includes("given")]`;
	const options = { globals: { given: { a: 1 } }, modules: { "./a.js": "export const there = given.a + 1" } };
	expect(await value(source, options)).toEqual([1, 2, false, false]);
});

test("without options no host functions are available [SA-154]", async () => {
	const names =
		"fetch process require setTimeout setInterval setImmediate queueMicrotask Buffer WebSocket state report module exports __dirname global window self performance navigator structuredClone Worker WebAssembly crypto URL TextEncoder atob DOMException".split(
			" ",
		);
	expect(await value(`export default [${names.map((name) => `typeof ${name}`)}]`)).toEqual(
		names.map(() => "undefined"),
	);
	expect(await value("export default Object.keys(import.meta)")).toEqual([]);
	expect(await value("export default typeof console.log")).toBe("function");
});

test("every run starts fresh, regardless of the previous one [SA-156]", async () => {
	await value(`Object.prototype.polluted = 1; Array.prototype.map = () => "mine"; globalThis.left = 1;
		JSON.stringify = () => "mine"; Promise.prototype.then = null; delete globalThis.Map; Math.random = () => 5; export default 1`);
	expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined();
	expect(
		await value(
			"export default [{}.polluted, [1].map((x) => x), typeof left, JSON.stringify(1), typeof Map, Math.random() < 1]",
		),
	).toEqual([undefined, [1], "undefined", "1", "function", true]);
	const random = "export default Math.random()";
	expect(await value(random)).not.toBe(await value(random));
});

describe("report", () => {
	test("calls the host in order, and is in the handle and in the result [SA-175]", async () => {
		const seen: unknown[] = [];
		const handle = sandbox.runCode("report(1); report({ a: [2] }); await next(); report(3)", {
			report: (reported) => void seen.push(reported),
			globals: {
				next() {
					expect(handle.reports).toEqual([1, { a: [2] }]);
				},
			},
		});
		expect(handle.reports).toEqual([]);
		const outcome = await handle;
		expect(seen).toEqual([1, { a: [2] }, 3]);
		expect(outcome.reports).toEqual(seen);
		expect(handle.reports).toEqual(seen);
	});

	test("does not exist without the option, but a global can have that name [SA-176]", async () => {
		expect(await run("export default typeof report")).toMatchObject({ result: "undefined", reports: [] });
		expect(
			await run("report(1); export default typeof report", { globals: { report: () => {} } }),
		).toMatchObject({ result: "function", reports: [] });
	});

	test("fills snapshots that cannot be changed, and is kept for every outcome [SA-177]", async () => {
		const handle = sandbox.runCode("report({ a: 1 }); await next(); report(2)", {
			report: (reported) => {
				if (typeof reported === "object") (reported as { a: number }).a = 9;
			},
			globals: { next: () => snapshot() },
		});
		let taken: readonly unknown[] = [];
		let again: readonly unknown[] = [];
		const snapshot = (): void => {
			taken = handle.reports;
			(taken[0] as { a: number }).a = 8;
			(taken as unknown[]).push("mine");
			again = handle.reports;
		};
		expect((await handle).reports).toEqual([{ a: 1 }, 2]);
		expect(taken).toEqual([{ a: 8 }, "mine"]);
		expect(again).toEqual([{ a: 1 }]);
		const bytes = sandbox.runCode("report(new Uint8Array([1, 2])); await next()", {
			report: () => {},
			globals: { next: () => void (bytes.reports[0] as Uint8Array).fill(9) },
		});
		expect((await bytes).reports).toEqual([new Uint8Array([1, 2])]);
		for (const [ending, status] of [
			["throw 1", "error"],
			["new ArrayBuffer(1e9)", "memory"],
			["stop(); for (;;);", "terminated"],
		] as const) {
			const stopped = sandbox.runCode(`report("kept"); ${ending}`, {
				report: () => {},
				globals: { stop: () => stopped.terminate() },
			});
			expect(await stopped).toMatchObject({ status, reports: ["kept"] });
		}
	});
});

test("the console is captured, unless one is given [SA-178]", async () => {
	const before = Date.now();
	const source =
		"const a = { b: 1 }; console.log(a, 'x'); a.b = 2; console.error(a); console.info(); console.warn(1n); console.debug(() => 1, Symbol('s'))";
	const { logs } = await run(source);
	expect(logs.map(({ level, args }) => [level, args])).toEqual([
		["log", [{ b: 1 }, "x"]],
		["error", [{ b: 2 }]],
		["info", []],
		["warn", [1n]],
		["debug", ["[a function]", "[a symbol]"]],
	]);
	for (const { timestamp } of logs) expect(timestamp >= before && timestamp <= Date.now()).toBe(true);
	const seen: unknown[] = [];
	const own = await run("console.log(1, { a: 2 })", {
		globals: { console: { log: (...given: unknown[]) => void seen.push(given) } },
	});
	expect(seen).toEqual([[1, { a: 2 }]]);
	expect(own.logs).toEqual([]);
});

test("values are copies on both sides [SA-179]", async () => {
	const given = { list: [1] };
	const got: { list: number[] }[] = [];
	const outcome = value(
		"export default () => { given.list.push(2); take(given); given.list.push(3); return [given, given2.list] }",
		{
			globals: {
				given,
				given2: given,
				take: (taken: { list: number[] }) => {
					taken.list.push(99);
					got.push(taken);
				},
			},
		},
	);
	given.list.push(77);
	expect(await outcome).toEqual([{ list: [1, 2, 3] }, [1, 2, 3]]);
	expect(given.list).toEqual([1, 77]);
	expect(got).toEqual([{ list: [1, 2, 99] }]);
	const bytes = new Uint8Array([1, 2, 3]);
	const filled: Uint8Array[] = [];
	const take = (taken: Uint8Array) => void filled.push(taken.fill(8));
	const source =
		"export default (own) => { const one = own.slice(); take(one); own.fill(9); return [own, one] }";
	expect(await value(source, { execute: { args: [bytes] }, globals: { take } })).toEqual([
		new Uint8Array([9, 9, 9]),
		new Uint8Array([1, 2, 3]),
	]);
	expect([bytes, ...filled]).toEqual([new Uint8Array([1, 2, 3]), new Uint8Array([8, 8, 8])]);
});

test("all kinds of data cross in both directions [SA-180]", async () => {
	const given = {
		list: [
			undefined,
			null,
			Number.NaN,
			Number.POSITIVE_INFINITY,
			Number.NEGATIVE_INFINITY,
			-0,
			0,
			1.5,
			true,
			'a\u0000\ud800\u2028"',
			12345678901234567890n,
			-1n,
		],
		dates: [new Date(0), new Date(Number.NaN)],
		map: new Map<unknown, unknown>([[{ a: 1 }, new Set([1, new Map()])]]),
		views: [
			new Uint8Array([1, 2]),
			new Float64Array([Number.NaN, -0]),
			new BigInt64Array([-1n]),
			new DataView(new ArrayBuffer(3), 1),
			new ArrayBuffer(2),
			new Uint16Array(new Uint8Array([0, 0, 1, 0]).buffer, 2),
		],
		pattern: /a\/b+/giu,
		error: Object.assign(new TypeError("t", { cause: { a: 1 } })),
		boxed: [Object(1), Object("s"), Object(false)],
		// biome-ignore lint/suspicious/noSparseArray: holes are what is looked at
		sparse: [1, , 3, ,],
		["__proto__"]: 1,
	};
	expect(await echo(given)).toEqual(given);
	const back = (await echo(given)) as typeof given;
	expect(Object.is(back.list[5], -0)).toBe(true);
	expect(1 in back.sparse).toBe(false);
	expect(back.sparse).toHaveLength(4);
	expect(back.error).toBeInstanceOf(TypeError);
	expect(back.error.cause).toEqual({ a: 1 });
	const cyclic: Record<string, unknown> = { a: [] };
	cyclic["self"] = cyclic;
	(cyclic["a"] as unknown[]).push(cyclic);
	const ring = (await echo(cyclic)) as { self: unknown; a: unknown[] };
	expect(ring.self).toBe(ring);
	expect(ring.a[0]).toBe(ring);
	const shared = { x: 1 };
	const [one, two] = (await echo([shared, shared])) as object[];
	expect(one).toBe(two);
	const seen = await value(
		"export default (g) => [Object.is(g[0], -0), g[1] instanceof Map, g[1].get('k') instanceof Date, g[2] instanceof Uint8Array, g[3] instanceof TypeError, typeof g[4], g[5].test('ab'), Object.getPrototypeOf(g[6]) === Object.prototype]",
		{
			execute: {
				args: [[-0, new Map([["k", new Date()]]), new Uint8Array(1), new TypeError("x"), 1n, /ab/, {}]],
			},
		},
	);
	expect(seen).toEqual([true, true, true, true, true, "bigint", true, true]);
});

test("a result is data: functions and symbols become their names, instances are plain [SA-181]", async () => {
	for (const [source, type] of [
		["() => () => 1", "function"],
		["() => ({ a: [Symbol()] })", "symbol"],
		["() => new WeakMap()", "WeakMap"],
		["() => [Promise.resolve()]", "Promise"],
		["() => class {}", "function"],
	]) {
		const outcome = await run(`export default ${source}`);
		expect(outcome.status, source).toBe("error");
		expect(outcome.error?.message).toContain(type);
	}
	const plain = await value("class P { a = 1; #b = 2; get c() { return 3 } } export default new P()");
	expect(plain).toEqual({ a: 1 });
	expect(Object.getPrototypeOf(plain)).toBe(Object.prototype);
});

test("functions of the host can be called at any depth, and their promises awaited [SA-182]", async () => {
	const counter = {
		count: 1,
		add(this: { count: number }, more: { by: number }) {
			return { sum: this.count + more.by };
		},
	};
	const source = `import { deep } from "lib";
		const later = double(4);
		export default [deep.nested[0]({ by: 2 }), counter.add({ by: 5 }), later instanceof Promise, await later, (await make())(3), typeof double(1).then]`;
	const options = {
		imports: { lib: { deep: { nested: [(given: { by: number }) => given.by + 1] } } },
		globals: { counter, double: async (a: number) => a * 2, make: async () => (a: number) => a + 1 },
	};
	expect(await value(source, options)).toEqual([3, { sum: 6 }, true, 8, 4, "function"]);
	expect(
		await value("export default [double.name, await Promise.all([1, 2, 3].map((x) => double(x)))]", options),
	).toEqual(["double", [2, 4, 6]]);
});

test("errors of a bridge can be caught, with their name and message [SA-183]", async () => {
	class Mine extends Error {
		override name = "Mine";
		secret = "hidden";
	}
	const globals = {
		now() {
			throw new RangeError("r");
		},
		later: () => Promise.reject(new Mine("m")),
		text() {
			throw "text";
		},
		bad: () => Symbol(),
		callback: (f: unknown) => f,
	};
	const source = `const seen = [];
		for (const call of [now, later, text, bad, () => callback(() => 1)])
			try { await call() } catch (error) { seen.push([error instanceof Error, error.name, error.message, error.secret]) }
		seen.push((() => { try { now() } catch (error) { return error instanceof RangeError } })());
		export default seen`;
	const seen = (await value(source, { globals })) as unknown[][];
	expect(seen.slice(0, 3)).toEqual([
		[true, "RangeError", "r", undefined],
		[true, "Mine", "m", undefined],
		[true, "Error", "text", undefined],
	]);
	expect(seen[3]?.[2]).toContain("symbol");
	expect(seen[4]?.[2]).toContain("function");
	expect(seen[5]).toBe(true);
});

test("any value that supports structured cloning arrives unchanged", async () => {
	const key = fc.string({ maxLength: 6, unit: "binary" });
	const { any } = fc.letrec<{ any: unknown }>((tie) => ({
		any: fc.oneof(
			{ maxDepth: 4, withCrossShrink: true },
			fc.oneof(
				fc.string({ unit: "binary" }),
				fc.double(),
				fc.integer(),
				fc.boolean(),
				fc.bigInt(),
				fc.constantFrom(null, undefined, -0),
				fc.date({ noInvalidDate: false }),
				fc.uint8Array(),
				fc.float64Array({ maxLength: 4 }),
				fc.bigInt64Array({ maxLength: 3 }),
			),
			fc.array(tie("any"), { maxLength: 4 }),
			fc.dictionary(key, tie("any"), { maxKeys: 4, noNullPrototype: true }),
			fc.array(fc.tuple(tie("any"), tie("any")), { maxLength: 3 }).map((entries) => new Map(entries)),
			fc.array(tie("any"), { maxLength: 3 }).map((entries) => new Set(entries)),
			fc.sparseArray(tie("any"), { maxLength: 5 }),
		),
	}));
	await fc.assert(
		fc.asyncProperty(any, async (given) => {
			expect(await echo(given)).toEqual(structuredClone(given));
		}),
		{ numRuns: 150 },
	);
});
