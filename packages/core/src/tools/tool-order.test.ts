import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type OrderedCall, type OrderedTool, orderRound } from "./tool-order.ts";

const tools: OrderedTool[] = [
	{ name: "plain" },
	{ name: "read_file" },
	{ name: "write_file", dependsOn: ["read_file"] },
	{ name: "alone", sequential: true },
	{ name: "ping", dependsOn: ["pong"] },
	{ name: "pong", dependsOn: ["ping"] },
	{ name: "careful", sequential: true, dependsOn: ["read_file"] },
];

function call(toolCallId: string, toolName: string, after?: string[]): OrderedCall {
	return { toolCallId, toolName, ...(after === undefined ? {} : { after }) };
}

function waits(...calls: OrderedCall[]): Record<string, readonly string[]> {
	return Object.fromEntries(orderRound(calls, tools).waitsFor);
}

interface Settled {
	readonly toolCallId: string;
	readonly result: unknown;
	readonly isError?: true;
}

// Runs a round like the engine: each call starts once everything it waits for has settled.
async function carryOut(
	calls: readonly OrderedCall[],
	ordered: readonly OrderedTool[],
	execute: (call: OrderedCall) => Settled | Promise<Settled>,
): Promise<Settled[]> {
	const { waitsFor, cyclic } = orderRound(calls, ordered);
	const settled = new Map<string, Promise<Settled>>();
	const settle = (call: OrderedCall): Promise<Settled> => {
		const known = settled.get(call.toolCallId);
		if (known !== undefined) return known;
		const result = (async (): Promise<Settled> => {
			const { toolCallId } = call;
			const cycle = cyclic.get(toolCallId);
			if (cycle !== undefined) return { toolCallId, result: cycle, isError: true };
			const waits = waitsFor.get(toolCallId) ?? [];
			const others = waits.map((id) => settle(calls.find((each) => each.toolCallId === id) as OrderedCall));
			if (others.length > 0) await Promise.all(others);
			try {
				return await execute(call);
			} catch (error) {
				return { toolCallId, result: (error as Error).message, isError: true };
			}
		})();
		settled.set(call.toolCallId, result);
		return result;
	};
	for (const call of calls) if (!waitsFor.has(call.toolCallId)) settle(call);
	return Promise.all(calls.map(settle));
}

// Runs a round of asynchronous calls, and logs when each starts and ends.
async function watch(calls: OrderedCall[], ordered: readonly OrderedTool[] = tools) {
	const log: string[] = [];
	let running = 0;
	let most = 0;
	const results = await carryOut(calls, ordered, async ({ toolCallId }) => {
		log.push(`+${toolCallId}`);
		most = Math.max(most, ++running);
		for (let turn = 0; turn < 3; turn++) await Promise.resolve();
		running--;
		log.push(`-${toolCallId}`);
		return { toolCallId, result: toolCallId };
	});
	return { log, most, results };
}

describe("calls without dependencies", () => {
	test("do not wait", () => {
		const order = orderRound([call("1", "plain"), call("2", "read_file"), call("3", "unknown")], tools);
		expect(order.waitsFor.size + order.cyclic.size).toBe(0);
	});

	test("overlap, and their results are in call order [UAP-082]", async () => {
		const finished: string[] = [];
		const { promise: last, resolve: finishLast } = Promise.withResolvers<void>();
		const calls = [call("1", "plain"), call("2", "plain"), call("3", "read_file")];
		// Each of the first two waits for the next one, which only works if all have started.
		const { promise: second, resolve: finishSecond } = Promise.withResolvers<void>();
		const results = await carryOut(calls, tools, async ({ toolCallId }) => {
			if (toolCallId === "1") await second;
			if (toolCallId === "2") await last;
			if (toolCallId === "3") finishLast();
			finished.push(toolCallId);
			if (toolCallId === "2") finishSecond();
			return { toolCallId, result: toolCallId };
		});
		expect(finished).toEqual(["3", "2", "1"]);
		expect(results.map(({ toolCallId }) => toolCallId)).toEqual(["1", "2", "3"]);
	});
});

describe("sequential calls", () => {
	test("finish before any other starts, one after another in call order [UAP-083]", async () => {
		const calls = [call("1", "plain"), call("2", "alone"), call("3", "plain"), call("4", "alone")];
		expect(waits(...calls)).toEqual({ 4: ["2"], 1: ["4"], 3: ["4"] });
		const { log, most } = await watch(calls);
		expect(log).toEqual(["+2", "-2", "+4", "-4", "+1", "+3", "-1", "-3"]);
		expect(most).toBe(2);
	});

	test("wait for their explicit dependencies", async () => {
		const calls = [call("1", "plain"), call("2", "careful"), call("3", "read_file")];
		expect(waits(...calls)).toEqual({ 2: ["3"], 1: ["2"] });
		expect((await watch(calls)).log).toEqual(["+3", "-3", "+2", "-2", "+1", "-1"]);
	});
});

describe("dependsOn", () => {
	test("starts a tool after all calls of the named tool in the round [UAP-084]", async () => {
		const calls = [
			call("1", "write_file"),
			call("2", "read_file"),
			call("3", "plain"),
			call("4", "read_file"),
		];
		expect(waits(...calls)).toEqual({ 1: ["2", "4"] });
		const { log } = await watch(calls);
		expect(log.indexOf("+1")).toBeGreaterThan(log.indexOf("-2"));
		expect(log.indexOf("+1")).toBeGreaterThan(log.indexOf("-4"));
		expect(log.slice(0, 3)).toEqual(["+2", "+3", "+4"]);
	});

	test("does not wait for a tool that was not called [UAP-084]", () => {
		expect(waits(call("1", "write_file"), call("2", "plain"))).toEqual({});
	});

	test("counts a failed call as settled", async () => {
		const results = await carryOut(
			[call("1", "write_file"), call("2", "read_file")],
			tools,
			({ toolCallId }) => {
				if (toolCallId === "2") throw new Error("no such file");
				return { toolCallId, result: "written" };
			},
		);
		expect(results).toEqual([
			{ toolCallId: "1", result: "written" },
			{ toolCallId: "2", result: "no such file", isError: true },
		]);
	});
});

describe("after", () => {
	test("forms a chain, in any order of calls; unknown ids are ignored [UAP-086]", async () => {
		const calls = [call("3", "plain", ["2", "nobody"]), call("1", "plain"), call("2", "plain", ["1"])];
		expect(waits(...calls)).toEqual({ 3: ["2"], 2: ["1"] });
		expect((await watch(calls)).log).toEqual(["+1", "-1", "+2", "-2", "+3", "-3"]);
		expect(waits(call("1", "plain", ["nobody"]))).toEqual({});
	});
});

describe("cycles", () => {
	test("give the affected calls an explanatory error, and the others run [UAP-085]", async () => {
		const calls = [
			call("1", "ping"),
			call("2", "pong"),
			call("3", "plain", ["1"]),
			call("4", "plain", ["4"]),
		];
		const { log, results } = await watch(calls);
		expect(log).toEqual(["+3", "-3"]);
		expect(results[0]).toEqual({
			toolCallId: "1",
			isError: true,
			result:
				"This call was not run, because it waits for itself: ping (1) waits for pong (2), which waits for ping (1). " +
				"Make these calls one after another, in separate rounds.",
		});
		expect(results.map(({ isError }) => isError ?? false)).toEqual([true, true, false, true]);
		expect(results[3]?.result).toMatch("plain (4) waits for plain (4).");
	});

	test("through `after` work the same", () => {
		const { cyclic, waitsFor } = orderRound(
			[call("1", "plain", ["3"]), call("2", "plain", ["1"]), call("3", "plain", ["2"]), call("4", "alone")],
			tools,
		);
		expect([...cyclic.keys()]).toEqual(["1", "2", "3"]);
		expect(waitsFor.size).toBe(0);
	});
});

test("any round: every call settles, and nothing starts before its dependencies", async () => {
	const names = fc.subarray(["a", "b", "c", "d"]);
	const anyTools = fc.tuple(
		...["a", "b", "c", "d"].map((name) =>
			fc.record({ name: fc.constant(name), sequential: fc.boolean(), dependsOn: names }),
		),
	);
	const anyCalls = fc.array(
		fc.record({
			toolName: fc.constantFrom("a", "b", "c", "d"),
			after: fc.subarray(["0", "1", "2", "3", "4", "5"], { maxLength: 2 }),
		}),
		{ maxLength: 6 },
	);
	await fc.assert(
		fc.asyncProperty(anyTools, anyCalls, async (some, bodies) => {
			const calls = bodies.map((body, index) => ({ ...body, toolCallId: String(index) }));
			const { cyclic } = orderRound(calls, some);
			const { log, results } = await watch(calls, some);
			expect(results.map(({ toolCallId }) => toolCallId)).toEqual(calls.map(({ toolCallId }) => toolCallId));
			for (const { toolCallId, toolName, after } of calls) {
				if (cyclic.has(toolCallId)) continue;
				const dependsOn = some.find(({ name }) => name === toolName)?.dependsOn ?? [];
				const start = log.indexOf(`+${toolCallId}`);
				for (const other of calls) {
					const before = after.includes(other.toolCallId) || dependsOn.includes(other.toolName);
					if (before) expect(log.indexOf(`-${other.toolCallId}`)).toBeLessThan(start);
				}
			}
			// A sequential call runs with no other at the same time.
			let running: string[] = [];
			for (const entry of log) {
				const id = entry.slice(1);
				running = entry.startsWith("+") ? [...running, id] : running.filter((other) => other !== id);
				const isSequential = (one: string) =>
					some.find(({ name }) => name === calls[Number(one)]?.toolName)?.sequential;
				if (running.length > 1) expect(running.some(isSequential)).toBe(false);
			}
		}),
	);
});

test("a sequential call that can go first does, even if another one waits for an ordinary call", () => {
	const tools = [{ name: "a", sequential: true }, { name: "b" }];
	const calls = [
		{ toolCallId: "0", toolName: "b" },
		{ toolCallId: "1", toolName: "a", after: ["0", "2"] },
		{ toolCallId: "2", toolName: "a" },
	];
	const { waitsFor } = orderRound(calls, tools);
	expect(waitsFor.get("2")).toBeUndefined();
	expect(waitsFor.get("0")).toEqual(["2"]);
	expect(waitsFor.get("1")).toEqual(["0", "2"]);
});
