import type { Tool } from "@holdfast/upp";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { executeOrderedToolCalls } from "./execute-ordered.ts";
import {
	hasCallDependencies,
	hasToolDependencies,
	type OrderedToolCall,
	orderToolCalls,
	type ToolDependencyOptions,
	type ToolWithDependencies,
} from "./execution-groups.ts";

const tool = (name: string, options: ToolDependencyOptions = {}): ToolWithDependencies => ({
	name,
	description: name,
	parameters: { type: "object" },
	run: () => name,
	...options,
});
const tools = [
	tool("plain"),
	tool("read"),
	tool("write", { dependsOn: ["read"] }),
	tool("alone", { sequential: true }),
	tool("ping", { dependsOn: ["pong"] }),
	tool("pong", { dependsOn: ["ping"] }),
];
const call = (toolCallId: string, toolName: string, after?: string[]): OrderedToolCall => ({
	toolCallId,
	toolName,
	arguments: {},
	...(after === undefined ? {} : { after }),
});
/** Groups as text: a `!` before the id of a barrier. */
const groups = (...calls: OrderedToolCall[]): string[] =>
	orderToolCalls(calls, tools).map(
		({ calls: group, isBarrier }) =>
			`${isBarrier ? "!" : ""}${group.map(({ toolCallId }) => toolCallId).join()}`,
	);

describe("calls in groups", () => {
	test("no calls are no groups, and calls without dependencies are one group", () => {
		expect(orderToolCalls([], tools)).toEqual([]);
		const calls = [call("1", "plain"), call("2", "read"), call("3", "unknown")];
		expect(orderToolCalls(calls, tools)).toEqual([{ calls, isBarrier: false }]);
		expect(orderToolCalls(calls, tools)[0]?.calls[0]).toBe(calls[0]);
	});

	test("each call is a group if a sequential one is ready, and calls of sequential tools are barriers [UAP-083]", () => {
		expect(groups(call("1", "plain"), call("2", "alone"), call("3", "plain"), call("4", "alone"))).toEqual([
			"1",
			"!2",
			"3",
			"!4",
		]);
		// It is not ready before the call it follows: until then the others form a group.
		expect(groups(call("1", "plain"), call("2", "alone", ["1"]), call("3", "plain"))).toEqual(["1,3", "!2"]);
	});

	test("a tool waits until the calls of its dependencies have run, if there are any [UAP-084]", () => {
		expect(groups(call("1", "write"), call("2", "read"), call("3", "plain"))).toEqual(["2,3", "1"]);
		expect(groups(call("1", "write"), call("2", "plain"))).toEqual(["1,2"]);
		expect(groups(call("1", "read"), call("2", "write"), call("3", "read", ["2"]))).toEqual(["1", "2", "3"]);
	});

	test("a call waits for the calls it comes after, in any order; unknown ids are ignored [UAP-086]", () => {
		expect(groups(call("3", "plain", ["2", "gone"]), call("1", "plain"), call("2", "plain", ["1"]))).toEqual([
			"1",
			"2",
			"3",
		]);
		expect(groups(call("1", "plain", ["gone"]))).toEqual(["1"]);
	});

	test("calls that wait for themselves are one last group [UAP-085]", () => {
		expect(groups(call("1", "ping"), call("2", "pong"), call("3", "plain"))).toEqual(["3", "1,2"]);
		expect(groups(call("1", "plain", ["1"]), call("2", "alone", ["1"]))).toEqual(["1,2"]);
		expect(orderToolCalls([call("1", "alone", ["1"])], tools)).toMatchObject([{ isBarrier: false }]);
	});

	test("tools can be given by name, and calls can share an id", () => {
		const byName = new Map(tools.map((each) => [each.name, each]));
		expect(orderToolCalls([call("1", "write"), call("1", "read")], byName)).toMatchObject([
			{ calls: [{ toolName: "read" }] },
			{ calls: [{ toolName: "write" }] },
		]);
	});

	test("of any round contain each call once, and none before its dependencies", () => {
		const ids = ["0", "1", "2", "3", "4", "5"];
		const anyCalls = fc.array(
			fc.record({
				toolName: fc.constantFrom("plain", "read", "write", "alone"),
				after: fc.subarray(ids, { maxLength: 2 }),
			}),
			{ maxLength: 6 },
		);
		fc.assert(
			fc.property(anyCalls, (bodies) => {
				const calls = bodies.map((body, at) => ({ ...body, toolCallId: String(at), arguments: {} }));
				const ordered = orderToolCalls(calls, tools).map((group) => group.calls);
				expect(
					ordered
						.flat()
						.map(({ toolCallId }) => toolCallId)
						.sort(),
				).toEqual(calls.map(({ toolCallId }) => toolCallId));
				const place = (id: string): number =>
					ordered.findIndex((group) => group.some(({ toolCallId }) => toolCallId === id));
				const isLast = (at: number): boolean => at === ordered.length - 1;
				for (const { toolCallId, after } of calls) {
					const at = place(toolCallId);
					for (const id of after) if (place(id) >= at) expect(isLast(at)).toBe(true);
				}
			}),
		);
	});

	test("of very many calls is found in linear time", () => {
		const many = Array.from({ length: 20_000 }, (_, at) =>
			call(String(at), at % 2 === 0 ? "plain" : "read", at === 0 ? [] : [String(at - 1)]),
		);
		const start = performance.now();
		expect(orderToolCalls(many, tools)).toHaveLength(20_000);
		expect(performance.now() - start).toBeLessThan(5_000);
	});
});

test("whether there are dependencies at all", () => {
	expect(hasToolDependencies([tool("plain"), tool("b", { dependsOn: [] })])).toBe(false);
	expect(hasToolDependencies(new Map([["alone", tool("alone", { sequential: true })]]))).toBe(true);
	expect(hasToolDependencies(tools.slice(2, 3))).toBe(true);
	expect(hasCallDependencies([call("1", "plain"), call("2", "plain", [])])).toBe(false);
	expect(hasCallDependencies([call("1", "plain", ["2"])])).toBe(true);
});

describe("calls that are executed", () => {
	test("run concurrently within a group, the groups one after the other, with results in call order [UAP-082]", async () => {
		const log: string[] = [];
		const calls = [call("1", "write"), call("2", "read"), call("3", "plain")];
		const executor = async ({ toolCallId }: OrderedToolCall, given: Tool): Promise<unknown> => {
			log.push(`+${toolCallId}`);
			await new Promise((resolve) => setImmediate(resolve));
			log.push(`-${toolCallId}`);
			return given.name;
		};
		const results = await executeOrderedToolCalls(calls, tools, executor);
		expect(log).toEqual(["+2", "+3", "-2", "-3", "+1", "-1"]);
		expect(results).toEqual(
			calls.map((each) => ({
				call: each,
				result: each.toolName,
				isError: false,
				duration: expect.any(Number),
			})),
		);
		expect(results[0]?.call).toBe(calls[0]);
		expect(results.every(({ duration }) => duration >= 0 && duration < 60_000)).toBe(true);
	});

	test("of an unknown tool fail, and the executor is not called", async () => {
		const asked: string[] = [];
		const results = await executeOrderedToolCalls(
			[call("1", "gone"), call("2", "plain")],
			tools,
			async (each) => {
				asked.push(each.toolCallId);
				return "done";
			},
		);
		expect(asked).toEqual(["2"]);
		expect(results[0]).toEqual({
			call: call("1", "gone"),
			result: null,
			isError: true,
			error: "Tool not found: gone",
			duration: 0,
		});
	});

	test("whose executor rejects or throws have its message, and later calls run", async () => {
		const results = await executeOrderedToolCalls(
			[call("1", "read"), call("2", "plain"), call("3", "write")],
			tools,
			({ toolCallId }) => {
				if (toolCallId === "1") throw new Error("no such file");
				return toolCallId === "2" ? Promise.reject(new Error("not now")) : Promise.resolve("written");
			},
		);
		expect(results).toMatchObject([
			{ result: null, isError: true, error: "no such file" },
			{ result: null, isError: true, error: "not now" },
			{ result: "written", isError: false },
		]);
		expect(results[2]).not.toHaveProperty("error");
	});
});
