// The host memory that a guest causes counts against its limit, and reading values never blocks the host's event loop.
import { monitorEventLoopDelay } from "node:perf_hooks";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { decode } from "./decode.ts";
import { bench } from "./sandbox.fixture.ts";
import { createSandbox } from "./sandbox.ts";
import { piecesOf } from "./wire-pieces.ts";
import { atOnce, WireReader } from "./wire-reader.ts";

const { run, value } = bench({ workers: 1 });
const MiB = 1024 * 1024;
const forever = (): Promise<never> => new Promise(() => {});

describe("arguments of waiting calls", () => {
	test.each([
		["a text", "'x'.repeat(5e5)"],
		["numbers", "Array.from({ length: 1e3 }, (_, i) => i + 0.5)"],
		["bytes", "new Uint8Array(5e5)"],
		["errors", "Array.from({ length: 1e3 }, () => new Error())"],
		["maps", "Array.from({ length: 1e3 }, () => new Map())"],
		[
			"arrays without elements",
			"Array.from({ length: 100 }, () => { const a = []; a.length = 100_010; return a })",
		],
	])("count until they are answered: %s", async (_, given) => {
		const held: unknown[] = [];
		const wait = (argument: unknown): Promise<never> => {
			held.push(argument);
			return forever();
		};
		const outcome = await run(`for (;;) wait(${given})`, { globals: { wait }, memoryLimitBytes: 8 * MiB });
		expect(outcome).toMatchObject({
			status: "memory",
			error: { message: expect.stringMatching(/waiting calls/) },
		});
		expect(held.length).toBeLessThan(1_000);
	});

	test("no longer count once they are answered, and reports, logs and the result count together", async () => {
		const globals = { echo: async (text: string) => text.length };
		const text = "'x'.repeat(1e6)";
		expect(
			await value(`let n = 0; for (let i = 0; i < 30; i++) n += await echo(${text}); export default n`, {
				globals,
				memoryLimitBytes: 8 * MiB,
			}),
		).toBe(30e6);
		const options = { globals, report: () => {}, memoryLimitBytes: 8 * MiB };
		const kept = `for (let i = 0; i < 3; i++) { report(${text}); console.log(${text}) }`;
		expect((await run(`${kept} export default 1`, options)).status).toBe("success");
		expect((await run(`${kept} export default 'x'.repeat(3e6)`, options)).status).toBe("memory");
		expect((await run(`${kept} await echo('x'.repeat(3e6))`, options)).status).toBe("memory");
	});
});

test("answers that wait for a guest count, too, and the next run starts at zero", async () => {
	const globals = { answer: async () => "x".repeat(MiB) };
	const options = { globals, memoryLimitBytes: 8 * MiB };
	for (let again = 0; again < 10; again++) {
		const outcome = await run("await Promise.all(Array.from({ length: 30 }, () => answer()))", options);
		expect(outcome).toMatchObject({
			status: "memory",
			error: { message: expect.stringMatching(/answers that wait/) },
		});
		expect(await value("export default (await answer()).length", options)).toBe(MiB);
	}
});

describe("time", () => {
	test("spent waiting counts towards the limit of a run", async () => {
		const globals = { wait: forever };
		const outcome = await run("await wait()", { globals, timeLimitMs: 50 });
		expect(outcome).toMatchObject({
			status: "terminated",
			error: { message: "The run took longer than 50 ms" },
		});
		const short = createSandbox({ workers: 1, timeLimitMs: 50 });
		expect((await short.runCode("for (;;) await wait()", { globals })).status).toBe("terminated");
		expect((await short.runCode("export default 1", { timeLimitMs: Number.POSITIVE_INFINITY })).result).toBe(
			1,
		);
		await short.close();
		for (const timeLimitMs of [0, -1, Number.NaN])
			expect(() => createSandbox({ timeLimitMs })).toThrow(
				expect.objectContaining({ code: "invalid_code_options" }),
			);
	});
});

describe("a large value", () => {
	test.each([
		["argument", "take(V)"],
		["argument of a call that is awaited", "await later(V)"],
		["report", "report(V)"],
		["log", "console.log(V)"],
		["result", "export default V"],
		["many logs", "for (let i = 0; i < 2e4; i++) console.log(i)"],
	])(
		"does not stop the event loop while it is read: %s",
		async (_, source) => {
			const globals = { take: () => 1, later: async () => 1 };
			for (const large of [
				"'x'.repeat(1e7)",
				"Array.from({ length: 1e4 }, (_, i) => ({ i, a: [i, 'x' + i] }))",
				"Array.from({ length: 2e4 }, (_, i) => i)",
			]) {
				const delay = monitorEventLoopDelay({ resolution: 5 });
				await value("export default 1");
				delay.enable();
				const outcome = await run(source.replace("V", large), {
					globals,
					report: () => {},
					memoryLimitBytes: 128 * MiB,
				});
				delay.disable();
				expect([large, outcome.error?.message ?? ""]).toEqual([large, expect.stringMatching(/^$|no export/)]);
				expect([large, delay.max / 1e6 < 1_000]).toEqual([large, true]);
			}
		},
		60_000,
	);

	test("arrives unchanged, for any split", () => {
		const json = fc.array(
			fc.oneof(fc.string({ unit: "binary", maxLength: 400 }), fc.integer(), fc.array(fc.string())),
		);
		fc.assert(
			fc.property(json, fc.integer({ min: 20, max: 200 }), (given, length) => {
				const nodes: string[] = [];
				const token = (one: unknown): string => {
					if (!Array.isArray(one)) return JSON.stringify(one);
					const at = nodes.push("") - 1;
					nodes[at] = `["a"${one.map((entry) => `,${token(entry)}`).join("")}]`;
					return `["@",${at}]`;
				};
				for (const text of [
					`{"r":${token(given)},"n":[${nodes.join(",")}]}`,
					`{"r":${JSON.stringify(String(given))},"n":[]}`,
				]) {
					const reader = new WireReader();
					const { texts } = piecesOf(text, length);
					for (const piece of texts) reader.add(piece);
					const expected = text.includes('"n":[]') && nodes.length > 0 ? String(given) : given;
					expect(atOnce(decode(reader.end(), []))).toEqual(expected);
				}
			}),
		);
	});

	test("that is a bigint of a million bits is read without delay", async () => {
		const began = performance.now();
		expect(await value("export default (1n << 1000000n) - 1n")).toBe((1n << 1000000n) - 1n);
		expect(await value("export default -255n")).toBe(-255n);
		expect(performance.now() - began).toBeLessThan(5_000);
	});
});
