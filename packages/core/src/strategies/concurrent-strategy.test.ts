// Strategies that decide after each result of a call, and the options that have no effect on them.
import { scriptedModel } from "@holdfast/testing";
import type { JSONSchema } from "@holdfast/upp";
import { describe, expect, test } from "vitest";
import { Agent, type AgentOptions, agent } from "../agent/index.ts";
import { type Host, type Journal, type Lease, memoryHost } from "../host/index.ts";
import { tool } from "../tools/index.ts";
import { workflow } from "../workflow/workflow.ts";
import { type ConcurrentAction, type ConcurrentDecider, concurrentStrategy } from "./concurrent-strategy.ts";

const schema: JSONSchema = { type: "object", properties: { name: { type: "string" } }, required: ["name"] };

/** A tool whose call `slow` ends once `after` other calls have ended. */
function echoes(after: number) {
	const done = Promise.withResolvers<void>();
	let ended = 0;
	return tool({
		name: "echo",
		description: "Returns its input.",
		parameters: schema,
		run: async ({ name }: { name: string }) => {
			if (name === "slow") await done.promise;
			else if (++ended === after) done.resolve();
			return name;
		},
	});
}

function call(name: string) {
	return { toolName: "echo", arguments: { name } };
}

function deciding(next: (results: readonly string[], asked: number) => unknown): ConcurrentDecider<Own> {
	return {
		name: "test",
		initial: () => ({ results: [], asked: 0 }),
		evolve(own, { fact }) {
			if (fact.kind === "tools.requested") return { ...own, asked: own.asked + fact.calls.length };
			if (fact.kind === "tool.settled") return { ...own, results: [...own.results, String(fact.result)] };
			return own;
		},
		next: ({ results, asked }) => next(results, asked) as ConcurrentAction,
	};
}

interface Own {
	readonly results: readonly string[];
	readonly asked: number;
}

async function run(
	next: Parameters<typeof deciding>[0],
	{ after = 2, ...options }: Partial<AgentOptions> & { after?: number } = {},
) {
	const execution = concurrentStrategy(deciding(next));
	const made = new Agent({
		model: scriptedModel([]),
		tools: [echoes(after)],
		execution,
		host: memoryHost(),
		...options,
	});
	return (await made.session("s").send("Go.")).result();
}

describe("a concurrent strategy", () => {
	test("adds calls after each result, while another call runs", async () => {
		const { text } = await run((results, asked) => {
			if (asked === 0) return { kind: "calls", calls: [call("slow"), call("a")] };
			if (results.length === 1 && asked === 2) return { kind: "calls", calls: [call("b")] };
			return results.length < 3 ? { kind: "results" } : { kind: "finish", text: results.join(" ") };
		});
		expect(text).toBe("a b slow");
	});

	test("records a decision with the calls that follow from it", async () => {
		const host = memoryHost();
		await run(
			(results, asked) => {
				if (asked === 0) return { kind: "calls", calls: [call("a")], decision: { topic: "why", answer: 42 } };
				return results.length === 0 ? { kind: "results" } : { kind: "finish" };
			},
			{ host },
		);
		const entries = [...(await host.journal.read("s"))];
		const at = entries.findIndex(({ fact }) => fact.kind === "decision" && fact.topic === "why");
		expect(entries[at]?.fact).toMatchObject({ answer: 42 });
		expect(entries[at + 1]?.fact.kind).toBe("tools.requested");
	});

	test.each([
		["waits for a result of no call", { kind: "results" }, "no call is open"],
		["calls nothing", { kind: "calls", calls: [] }, "at least one"],
		["returns no action", { kind: "model" }, "returned no"],
	])("that %s fails", async (_name, action, message) => {
		const { error } = await run(() => action);
		expect(error).toMatchObject({ code: "invalid_action", message: expect.stringContaining(message) });
	});

	test.each([
		{ maxSteps: 3 },
		{ output: { type: "object" } },
		{ toolChoice: "required" },
		{ cache: { lifetime: "1h" } },
		{ prepareStep: () => ({}) },
	] as Partial<AgentOptions>[])("refuses %j, which has no effect", (options) => {
		const execution = concurrentStrategy(deciding(() => ({ kind: "finish" })));
		expect(() => agent({ model: scriptedModel([]), execution, ...options } as AgentOptions)).toThrow(
			"calls no model",
		);
	});

	test("needs its functions", () => {
		expect(() => concurrentStrategy({ name: "x" } as never)).toThrow("takes {name, initial, evolve, next}");
	});
});

test("a workflow continues after each result of calls that started together", async () => {
	const echo = echoes(3);
	const flows = workflow({ name: "pipeline", tools: [echo], host: memoryHost() }, (flow) =>
		Promise.all(
			["slow", "a", "b"].map(async (name) => {
				const first = await flow.tool(echo, { name });
				return first === "slow" ? first : flow.tool(echo, { name: `${String(first)}${String(first)}` });
			}),
		),
	);
	const run = await flows.session("s").send(undefined);
	expect((await run.result()).output).toEqual(["slow", "aa", "bb"]);
});

/** A host whose appends take a turn of the event loop, as those of databases do. */
function slowHost(): Host {
	const host = memoryHost();
	const acquire: Journal["acquire"] = async (key, options) => {
		const acquired = await host.journal.acquire(key, options);
		if (!acquired.ok) return acquired;
		const append: Lease["append"] = async (batch) => {
			await new Promise((resolve) => setImmediate(resolve));
			return acquired.lease.append(batch);
		};
		const lease = new Proxy(acquired.lease, {
			get(target, name) {
				const value: unknown = Reflect.get(target, name, target);
				if (name === "append") return append;
				return typeof value === "function" ? value.bind(target) : value;
			},
		});
		return { ...acquired, lease };
	};
	return { ...host, journal: { ...host.journal, acquire } };
}

describe("while the commit of the last result is in flight", () => {
	test("a strategy's run is not left", async () => {
		const { text } = await run(
			(results, asked) => {
				if (asked < 3 && results.length === asked) return { kind: "calls", calls: [call(`call ${asked}`)] };
				return results.length < 3 ? { kind: "results" } : { kind: "finish", text: results.join() };
			},
			{ host: slowHost() },
		);
		expect(text).toBe("call 0,call 1,call 2");
	});

	test("a workflow's run is not left", async () => {
		const echo = echoes(3);
		const flows = workflow({ name: "one by one", tools: [echo], host: slowHost() }, async (flow) => {
			const results: unknown[] = [];
			for (const name of ["a", "b"]) results.push(await flow.tool(echo, { name }));
			return results;
		});
		const run = await flows.session("s").send(undefined);
		const { outcome } = await run.run.result();
		expect(outcome).toBe("completed");
	});
});
