import { tool } from "holdfast";
import { afterEach, expect, test } from "vitest";
import type { UsageGroup } from "../wire/index.ts";
import { type Inspected, inspect } from "./inspected.fixture.ts";

let inspected: Inspected | undefined;
afterEach(() => inspected?.close());

const parameters = { type: "object" };
const add = tool({ name: "add", description: "Adds.", parameters, run: () => 3 });
const broken = tool({
	name: "broken",
	description: "Fails.",
	parameters,
	run: () => {
		throw new Error("It is broken.");
	},
});

test("usage is grouped by agent, model and tool, with latencies, errors and answers of unknown price", async () => {
	inspected = inspect(
		({ messages }) => {
			if (messages.at(-1)?.type === "tool_result") return "Done.";
			return { toolCalls: ["add", "add", "broken"].map((name) => ({ name, arguments: {} })) };
		},
		{ tools: [add, broken], agent: { name: "adder" } },
	);
	await inspected.say("one", "Go");
	await inspected.say("two", "Go");
	const { body } = await inspected.get("usage?minutes=60");
	const groups = body.groups as readonly UsageGroup[];
	const find = (kind: string, name: string) =>
		groups.find((each) => each.kind === kind && each.name === name);
	expect(groups).toHaveLength(4);
	expect(find("agent", "adder")).toMatchObject({ count: 4, unpriced: 4, errors: 0 });
	expect(find("model", "clever-1")).toMatchObject({ count: 4, cost: 0, p50: expect.any(Number) });
	expect(find("tool", "add")).toMatchObject({ count: 4, errors: 0 });
	expect(find("tool", "broken")).toMatchObject({ count: 2, errors: 2, p95: expect.any(Number) });
	expect(body.latencies).toHaveLength(body.buckets.length);
	expect(body.latencies.at(-1)).toEqual({ p50: expect.any(Number), p95: expect.any(Number) });
	expect(body.latencies[0]).toEqual({});
	await inspected.say("one", "Go");
	const again = await inspected.get("usage?minutes=60");
	expect(again.body.groups.find(({ name }: UsageGroup) => name === "add")).toMatchObject({ count: 6 });
});

test("failed runs count for their agent", async () => {
	inspected = inspect(() => ({ error: new Error("on fire") }), { agent: { name: "failing" } });
	await inspected.say("one", "Go");
	const { body } = await inspected.get("usage?minutes=60");
	expect(body.groups).toEqual([
		expect.objectContaining({ kind: "agent", name: "failing", count: 0, errors: 1 }),
	]);
});
