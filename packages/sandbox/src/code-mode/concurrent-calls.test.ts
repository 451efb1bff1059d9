// Calls of scripts that start while others run: pipelines, races, and calls that the end of the script cuts off.
import { scriptedModel } from "@holdfast/testing";
import type { JSONSchema } from "@holdfast/upp";
import { Agent, type AnyTool, agent, memoryHost, tool } from "holdfast";

import { afterAll, describe, expect, test } from "vitest";
import { createSandbox } from "../sandbox.ts";
import { codeMode } from "./code-mode.ts";

const sandbox = createSandbox({ workers: 1 });
afterAll(() => sandbox.close());

async function run(where: string, code: string, tools: readonly AnyTool[]): Promise<string> {
	const options = {
		model: scriptedModel([{ toolCalls: [{ name: "run_code", arguments: { code } }] }, "Done."]),
		tools: [codeMode({ tools, sandbox, concurrency: 3 })],
	};
	const { turn } = await (where === "call"
		? agent(options).generate("Go.")
		: (await new Agent(options).session("s").send("Go.")).result());
	return String(turn?.toolExecutions[0]?.result);
}

const schema: JSONSchema = { type: "object", properties: { item: { type: "number" } }, required: ["item"] };

describe.each(["call", "session"])("a script in a %s", (where) => {
	test("takes each item of a pipeline as far as it gets while the first call of another item runs", async () => {
		const order: string[] = [];
		const othersDone = Promise.withResolvers<void>();
		const load = tool({
			name: "load",
			description: "Loads an item. The first one takes until all others are stored.",
			parameters: schema,
			run: async ({ item }: { item: number }) => {
				if (item === 0) await othersDone.promise;
				order.push(`load ${item}`);
				return item * 10;
			},
		});
		const store = tool({
			name: "store",
			description: "Stores an item.",
			parameters: schema,
			run: ({ item }: { item: number }) => {
				order.push(`store ${item}`);
				if (order.filter((each) => each.startsWith("store")).length === 3) othersDone.resolve();
				return item + 1;
			},
		});
		const code = `return Promise.all([0, 1, 2, 3].map(async (item) => tools.store({ item: await tools.load({ item }) })));`;
		expect(await run(where, code, [load, store])).toBe("[1,11,21,31]");
		expect(order.slice(-2)).toEqual(["load 0", "store 0"]);
		expect(order.slice(0, 6).toSorted()).toEqual(
			["load 1", "load 2", "load 3", "store 10", "store 20", "store 30"].toSorted(),
		);
	});

	test("continues after the first result of a race, and its end cancels the call that lost", async () => {
		const reason = Promise.withResolvers<unknown>();
		const slow = tool({
			name: "slow",
			description: "Never ends by itself.",
			parameters: schema,
			run: (_, { signal }) =>
				new Promise((_resolve, reject) => {
					signal.addEventListener("abort", () => {
						reason.resolve(signal.reason);
						reject(signal.reason);
					});
				}),
		});
		const fast = tool({
			name: "fast",
			description: "Ends at once.",
			parameters: schema,
			run: ({ item }: { item: number }) => item,
		});
		const code = `const first = await Promise.race([tools.slow({ item: 1 }), tools.fast({ item: 2 })]);
return [first, await tools.fast({ item: 3 })];`;
		const result = await run(where, code, [slow, fast]);
		expect(result).toContain("[2,3]");
		expect(result).toContain("1 of its calls (slow) had started. They were cancelled");
		expect(await reason.promise).toMatchObject({
			message: expect.stringContaining("the code ended without it"),
		});
	});

	test("keeps the order that its tools require, also for calls that start later", async () => {
		const order: string[] = [];
		const traced = (name: string, options: object) =>
			tool({
				name,
				description: "Notes when it runs.",
				parameters: schema,
				...options,
				run: async ({ item }: { item: number }) => {
					order.push(`${name} ${item} begins`);
					await new Promise((resolve) => setImmediate(resolve));
					order.push(`${name} ${item} ends`);
				},
			});
		const tools = [traced("plain", {}), traced("alone", { sequential: true })];
		const code = `await Promise.all([
	tools.plain({ item: 1 }),
	tools.plain({ item: 2 }).then(() => Promise.all([tools.alone({ item: 3 }), tools.plain({ item: 4 })])),
]);`;
		await run(where, code, tools);
		expect(order.indexOf("alone 3 ends")).toBeLessThan(order.indexOf("plain 4 begins"));
	});
});

test("a script that waits for an approval takes its other branches as far as they get", async () => {
	const ran: string[] = [];
	const note = tool({
		name: "note",
		description: "Notes an item.",
		parameters: schema,
		run: ({ item }: { item: number }) => {
			ran.push(`note ${item}`);
			return item;
		},
	});
	const pay = tool({
		name: "pay",
		description: "Pays.",
		parameters: schema,
		needsApproval: true,
		run: ({ item }: { item: number }) => {
			ran.push(`pay ${item}`);
			return item;
		},
	});
	const code = `return Promise.all([
	tools.pay({ item: 1 }).then((item) => tools.note({ item: item + 10 })),
	(async () => { let sum = 0; for (const item of [1, 2, 3]) sum += await tools.note({ item }); return sum; })(),
]);`;
	const host = memoryHost();
	const session = new Agent({
		model: scriptedModel([{ toolCalls: [{ name: "run_code", arguments: { code } }] }, "Done."]),
		tools: [codeMode({ tools: [note, pay], sandbox })],
		host,
	}).session("s");
	const { outcome, pending = [] } = await (await session.send("Go.")).result();
	expect(outcome).toBe("waiting");
	expect(ran).toEqual(["note 1", "note 2", "note 3"]);
	expect(pending).toMatchObject([{ toolName: "pay" }]);
	const run = await session.answer([{ toolCallId: pending[0]?.toolCallId ?? "", approved: true }]);
	expect((await run.result()).text).toBe("Done.");
	expect(ran.slice(3)).toEqual(["pay 1", "note 11"]);
	expect(JSON.stringify((await session.state()).messages)).toContain("[11,6]");
});
