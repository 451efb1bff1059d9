// Attempts of a guest to forge the pieces that its values travel in, to hold more than it may, or to outlast its time.
import { describe, expect, test } from "vitest";
import { bench } from "./sandbox.fixture.ts";

const { run, value } = bench({ workers: 1, cpuLimitMs: 5_000, timeLimitMs: 10_000 });
const MiB = 1024 * 1024;
const length = 300_000;

describe("the memory of a value is counted the same for any split", () => {
	const pieces = [
		'"]]}',
		'","n":[]}',
		'{"n":[["+",',
		'{"n":[["*","',
		'{"*":"',
		'["B",0]',
		'["@",0]',
		"\\",
		'\\"',
		"\u0001",
		"\u2028",
		"\ud800",
		"😀",
		"é",
		"],[",
		",",
	];
	test.each(pieces)("a text of %j", async (piece) => {
		const text = piece.repeat(length / piece.length);
		const given = `${JSON.stringify(piece)}.repeat(${length / piece.length})`;
		expect((await value(`export default ${given}`)) === text).toBe(true);
		const nested = (await value(`export default [{ [${given}]: [${given}, 1] }]`)) as Record<
			string,
			[string, number]
		>[];
		expect(
			Object.entries(nested[0] ?? {}).map(([key, [one, two]]) => [key === text, one === text, two]),
		).toEqual([[true, true, 1]]);
	});

	test.each<[string, unknown[]]>([
		["lists that look like marks", [["+", 1], ["*", "x"], ["@", 0], ["h"], ["B", 0], ["s", 1e9]]],
		["keys that look like marks", [{ "*": 1, "+": 2, r: 3, n: 4 }]],
		["a member called toJSON", [{ toJSON: 1 }]],
		["numbers at the edge", [1e308, -1e-308, 0.1, 123456789012345680000, -5]],
	])("%s", async (_, expected) => {
		const found = await value(
			`export default Array.from({ length: 3000 }, () => ${JSON.stringify(expected)})`,
		);
		expect(found).toHaveLength(3_000);
		expect((found as unknown[]).at(-1)).toEqual(expected);
	});

	test.each([
		[
			"patched prototypes",
			"BigInt.prototype.toString = () => 'zz'; String.prototype.slice = () => ''; export default [5n, 'a']",
			[5n, "a"],
		],
		[
			"a patched JSON",
			"JSON.stringify = () => '{\"n\":[[\"+\",1]]}'; JSON.parse = () => 1; export default ['b']",
			["b"],
		],
		[
			"a patched Map",
			"Map.prototype.get = () => 0; Map.prototype.set = () => {}; export default [[1], [2]]",
			[[1], [2]],
		],
	])("with %s", async (_, source, expected) => expect(await value(source)).toEqual(expected));
});

describe("a run that uses too much memory ends", () => {
	test.each([
		["calls whose promises are dropped", "for (;;) wait('x'.repeat(1e5))"],
		[
			"calls in microtasks",
			"const f = () => { wait('x'.repeat(1e5)); Promise.resolve().then(f) }; f(); await wait()",
		],
		["calls that throw after they were made", "for (;;) try { wait('x'.repeat(1e5)); throw 1 } catch {}"],
		["calls in getters", "const o = { get a() { wait('x'.repeat(1e5)); return 1 } }; for (;;) wait(o)"],
		["calls in proxies", "for (;;) wait(new Proxy({}, { ownKeys() { wait('y'.repeat(1e5)); return [] } }))"],
		["many small calls with wide text", "for (;;) wait('\u2028'.repeat(2e4))"],
		[
			"arrays of a length and nothing else",
			"const a = []; a.length = 100_010; for (;;) wait([a.slice(), a.slice()])",
		],
		["errors with causes", "for (;;) wait(Array.from({ length: 500 }, () => new Error('a', { cause: 1 })))"],
		[
			"dates, patterns and boxes",
			"for (;;) wait(Array.from({ length: 500 }, (_, i) => [new Date, /a/, Object(i)]))",
		],
		["empty buffers", "for (;;) wait(Array.from({ length: 500 }, () => new ArrayBuffer(0)))"],
		[
			"reports of one shared object",
			"const o = Array.from({ length: 500 }, (_, i) => ({ i })); for (;;) report([o, o])",
		],
		["logs of functions", "for (;;) console.log(...Array(200).fill(() => {}))"],
		["half in logs and half in calls", "for (;;) { console.log('x'.repeat(1e5)); wait('x'.repeat(1e5)) }"],
		[
			"a result beside its calls",
			"for (let i = 0; i < 30; i++) wait('x'.repeat(1e5)); export default 'x'.repeat(2e6)",
		],
	])("by %s", async (_, source) => {
		let held = 0;
		const wait = (given: unknown): Promise<never> => {
			held += JSON.stringify(given)?.length ?? 0;
			return new Promise(() => {});
		};
		const outcome = await run(source, { globals: { wait }, report: () => {}, memoryLimitBytes: 4 * MiB });
		expect(["memory", "terminated"]).toContain(outcome.status);
		expect(held).toBeLessThan(8 * MiB);
		expect(await value("export default 1")).toBe(1);
	});

	test.each([
		["waits for one promise", "await wait()"],
		["waits again and again", "for (;;) await soon()"],
		["waits in a loop of races", "for (;;) await Promise.race([soon(), wait()])"],
	])("or runs too long, as it %s", async (_, source) => {
		const globals = {
			wait: () => new Promise(() => {}),
			soon: () => new Promise((resolve) => setImmediate(resolve)),
		};
		const outcome = await run(source, { globals, timeLimitMs: 60 });
		expect(outcome).toMatchObject({ status: "terminated" });
	});
});
