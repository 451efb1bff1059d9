// Memory, recursion, output and time are bounded, and a run can be stopped at any moment.
import { describe, expect, test } from "vitest";
import { bench } from "./sandbox.fixture.ts";
import { createSandbox } from "./sandbox.ts";

const { sandbox, run, value } = bench({ workers: 2 });
const MiB = 1024 * 1024;

/** Measures the longest pause of the event loop during an action. */
async function longestPause(action: () => PromiseLike<unknown>): Promise<number> {
	let last = performance.now();
	let longest = 0;
	const timer = setInterval(() => {
		longest = Math.max(longest, performance.now() - last);
		last = performance.now();
	}, 1);
	await action();
	clearInterval(timer);
	return Math.max(longest, performance.now() - last);
}

/**
 * Returns the minimum duration of several attempts in milliseconds. Other load only makes attempts longer, so one within
 * the limit shows what the sandbox itself takes.
 */
async function fewest(limit: number, attempt: () => Promise<number>): Promise<number> {
	let best = Number.POSITIVE_INFINITY;
	for (let tries = 0; tries < 20 && best >= limit; tries++) best = Math.min(best, await attempt());
	return best;
}

describe("memory", () => {
	test.each([
		"const all = []; for (;;) all.push({})",
		"new ArrayBuffer(1e9)",
		"let s = 'x'; for (;;) { s += s; s.indexOf('y') }",
		"export default 'x'.repeat(5e8)",
		"const all = []; for (;;) all.push(new Map([[{}, []]]))",
		"JSON.parse('[' + '[],'.repeat(2e6) + '[]]')",
		"export default async () => { const all = []; for (;;) { all.push(new Uint8Array(1e5)); await 0 } }",
		"let f = () => 0; for (;;) { const g = f; f = () => g() }",
	])("that runs out ends the run and nothing else: %s [SA-160]", async (source) => {
		const [outcome, other] = await Promise.all([
			run(source, { memoryLimitBytes: 16 * MiB }),
			value("export default 1"),
		]);
		expect(outcome.status).toBe("memory");
		expect(outcome.error).toBeDefined();
		expect(other).toBe(1);
	});

	test("that runs out leaves its thread to the next run [SA-160]", async () => {
		const own = createSandbox({ workers: 1, maxRuns: 1, cpuLimitMs: 10_000_000 });
		for (const source of ["const all = []; for (;;) all.push({})", "new ArrayBuffer(1e9)"]) {
			expect((await own.runCode(source, { memoryLimitBytes: 4 * MiB })).status).toBe("memory");
			expect((await own.runCode("export default 1")).result).toBe(1);
		}
		await own.close();
	});

	test("is limited by default to 64 MiB, and limits must be positive numbers [SA-161]", async () => {
		expect((await run("new Uint8Array(70 * 1024 * 1024)")).status).toBe("memory");
		expect((await run("new Uint8Array(50 * 1024 * 1024)")).error?.message).toContain("no export");
		expect(
			(await run("new Uint8Array(70 * 1024 * 1024)", { memoryLimitBytes: 100 * MiB })).error?.message,
		).toContain("no export");
		for (const memoryLimitBytes of [0, -1, Number.NaN, Number.POSITIVE_INFINITY])
			expect(() => sandbox.runCode("", { memoryLimitBytes })).toThrow(
				expect.objectContaining({ code: "invalid_code_options" }),
			);
	});

	test("a worker that is not a path is rejected when the sandbox is created", () => {
		for (const worker of ["", 1, null, {}] as never[])
			expect(() => createSandbox({ worker })).toThrow(
				expect.objectContaining({ code: "invalid_code_options" }),
			);
	});

	test.each([
		"report('x'.repeat(1000))",
		"console.log('x'.repeat(1000))",
		"report(0)",
		"console.log()",
		"report(new Uint8Array(1e5))",
	])("also limits reports and logs: %s [SA-163]", async (call) => {
		const outcome = await run(`for (;;) ${call}`, { memoryLimitBytes: 2 * MiB, report: () => {} });
		expect(outcome.status).toBe("memory");
		const kept = outcome.reports.length + outcome.logs.length;
		expect(kept).toBeGreaterThan(0);
		expect(kept * 64).toBeLessThanOrEqual(2 * MiB);
	});

	test("limits arguments for a bridge", async () => {
		let largest = 0;
		const globals = {
			take(text: string) {
				largest = Math.max(largest, text.length);
			},
		};
		const outcome = await run("let s = 'x'; for (;;) { s += s; take(s) }", {
			globals,
			memoryLimitBytes: 8 * MiB,
		});
		expect(outcome.status).toBe("memory");
		expect(largest).toBeLessThanOrEqual(8 * MiB);
	});
});

test("endless recursion is a RangeError, and a value that is too deep fails cleanly [SA-162]", async () => {
	expect(await run("function f() { return f() + 1 } f()")).toMatchObject({
		status: "error",
		error: { name: "RangeError" },
	});
	expect(await run("const p = new Proxy({}, { get: (t, k, r) => r[k] }); p.a")).toMatchObject({
		status: "error",
		error: { name: "RangeError" },
	});
	for (const deep of [
		"let d = []; for (let i = 0; i < 1e5; i++) d = [d]; export default d",
		"let d = {}; for (let i = 0; i < 2000; i++) d = { d }; report(d)",
		"export default JSON.parse('['.repeat(1e5) + ']'.repeat(1e5))",
		`export default ${"(".repeat(50_000)}1${")".repeat(50_000)}`,
	]) {
		const outcome = await run(deep, { report: () => {} });
		expect(["error", "link_error", "memory"], deep.slice(0, 40)).toContain(outcome.status);
	}
	expect(await value("export default 1")).toBe(1);
});

describe("terminate", () => {
	test("ends a run that waits for a bridge at once [SA-164]", async () => {
		const took = await fewest(50, async () => {
			const asked = Promise.withResolvers<void>();
			const handle = sandbox.runCode("await forever()", {
				globals: {
					forever: () => {
						setImmediate(asked.resolve);
						return new Promise(() => {});
					},
				},
			});
			await asked.promise;
			const started = performance.now();
			handle.terminate();
			expect((await handle).status).toBe("terminated");
			return performance.now() - started;
		});
		expect(took).toBeLessThan(50);
	});

	test.each([
		"for (;;);",
		"for (;;) { try { for (;;); } catch {} finally { for (;;); } }",
		"const f = async () => { for (;;) await 0 }; await f()",
		"/(a+)+$/.test('a'.repeat(50) + 'b')",
		"(function* () { for (;;) yield 1 })().forEach(() => {})",
		"new Array(2 ** 32 - 1).join('')",
		"await new Promise(function again(r) { Promise.resolve().then(() => again(r)) })",
	])("ends a loop in time while the host's timers run: %s [SA-165]", async (source) => {
		const took = await fewest(50, async () => {
			const begun = Promise.withResolvers<void>();
			const handle = sandbox.runCode(`begun(); ${source}`, { globals: { begun: () => begun.resolve() } });
			await begun.promise;
			// Timers are answered while the guest computes.
			for (let answered = 0; answered < 20; answered++)
				await new Promise((resolve) => setTimeout(resolve, 1));
			expect(handle.running).toBe(true);
			const at = performance.now();
			const pause = await longestPause(() => {
				handle.terminate();
				return handle;
			});
			const ended = performance.now() - at;
			expect((await handle).status).toBe("terminated");
			return Math.max(ended, pause);
		});
		expect(took).toBeLessThan(50);
		expect(await value("export default 1")).toBe(1);
	});

	test("gives its first reason as the message [SA-166]", async () => {
		const begun = Promise.withResolvers<void>();
		const handle = sandbox.runCode("begun(); for (;;);", { globals: { begun: () => begun.resolve() } });
		await begun.promise;
		handle.terminate("5s budget");
		handle.terminate("another");
		expect(await handle).toMatchObject({ status: "terminated", error: { message: "5s budget" } });
		handle.terminate("a third");
		expect((await handle).error?.message).toBe("5s budget");
	});

	test("does nothing after the end, and ends everything right after the start [SA-167]", async () => {
		const ended = sandbox.runCode("export default 1");
		const outcome = await ended;
		ended.terminate("late");
		expect(await ended).toBe(outcome);
		expect(outcome).toMatchObject({ status: "success", result: 1 });
		let ran = false;
		const handle = sandbox.runCode("ran()", {
			globals: {
				ran() {
					ran = true;
				},
			},
		});
		handle.terminate();
		expect((await handle).status).toBe("terminated");
		await value("export default 1");
		expect(ran).toBe(false);
		// Even before it has a thread.
		const cold = createSandbox({ workers: 1 });
		const first = cold.runCode("ran()", { globals: { ran: () => (ran = true) } });
		first.terminate("at once");
		expect(await first).toMatchObject({ status: "terminated", error: { message: "at once" } });
		expect((await cold.runCode("export default 1")).result).toBe(1);
		expect(ran).toBe(false);
		await cold.close();
	});

	test("stops all further calls to the host [SA-168]", async () => {
		const calls: unknown[] = [];
		const handle = sandbox.runCode(
			"try { tick() } finally { for (;;) { touch('f'); report(1); console.log(1) } }",
			{
				report: () => void calls.push("report"),
				globals: {
					tick: () => handle.terminate(),
					touch: () => void calls.push("touch"),
					console: { log: () => void calls.push("console") },
				},
			},
		);
		expect((await handle).status).toBe("terminated");
		let release = (): void => {};
		const held = sandbox.runCode("await gate(); touch()", {
			globals: {
				gate: () => new Promise<void>((resolve) => (release = resolve)),
				touch: () => void calls.push("late"),
			},
		});
		await new Promise((resolve) => setTimeout(resolve, 30));
		held.terminate();
		release();
		expect((await held).status).toBe("terminated");
		await value("export default 1");
		expect(calls).toEqual([]);
	});

	test("also stops a call that is on its way to the host [SA-168]", async () => {
		const begun = Promise.withResolvers<void>();
		let calls = 0;
		const touch = (): void => {
			calls++;
			begun.resolve();
		};
		const handle = sandbox.runCode("for (;;) touch()", { globals: { touch } });
		await begun.promise;
		// Meanwhile the guest calls once more, and waits for the answer.
		const until = performance.now() + 50;
		while (performance.now() < until);
		const before = calls;
		handle.terminate();
		expect((await handle).status).toBe("terminated");
		expect(calls).toBe(before);
	});
});

test("a run that is not terminated is ended by the limit of computing time, and reports it [SA-169]", async () => {
	const own = createSandbox({ workers: 1, cpuLimitMs: 500 });
	try {
		// Waiting is no computing; on a busy machine beginning alone may take a while.
		const wait = () => new Promise((resolve) => setTimeout(resolve, 600));
		expect(await own.runCode("await wait(); export default 1", { globals: { wait } })).toMatchObject({
			status: "success",
		});
		for (const source of ["for (;;);", "new Array(2 ** 32 - 1).join('')", "for (;;) await 0"]) {
			const outcome = await own.runCode(source);
			expect(outcome).toMatchObject({
				status: "terminated",
				error: { message: expect.stringContaining("limit of computing time") },
			});
		}
		const handle = own.runCode("for (;;);");
		handle.terminate();
		expect((await handle).error?.message).not.toContain("limit");
	} finally {
		await own.close();
	}
});

test("runs that wait for the host do not prevent computing, and excess runs are queued [SA-167]", async () => {
	const own = createSandbox({ workers: 1, maxRuns: 3 });
	let release = (): void => {};
	const gate = new Promise<void>((resolve) => {
		release = resolve;
	});
	const nested = own.runCode("export default await inner()", {
		globals: { inner: async () => (await own.runCode("export default 5")).result },
	});
	expect((await nested).result).toBe(5);
	const held = [1, 2, 3].map((id) =>
		own.runCode("await gate(); export default id", { globals: { gate: () => gate, id } }),
	);
	const queued = own.runCode("export default 4");
	const stopped = own.runCode("export default 5");
	stopped.terminate("in line");
	expect((await stopped).error?.message).toBe("in line");
	await new Promise((resolve) => setTimeout(resolve, 50));
	release();
	expect((await Promise.all([...held, queued])).map(({ result }) => result)).toEqual([1, 2, 3, 4]);
	const last = own.runCode("for (;;);");
	await own.close();
	expect((await last).status).toBe("terminated");
	expect(() => own.runCode("")).toThrow(expect.objectContaining({ code: "sandbox_closed" }));
});
