import { scriptedModel } from "@holdfast/testing";
import { agent, tool } from "holdfast";
import { expect, test } from "vitest";
import { z } from "zod";
import { stepsPlanner } from "../loop/index.ts";
import { planActReflect } from "./strategy.ts";

const output = z.object({ city: z.string(), unit: z.string().default("°C") });

test.each([
	["message", { message: '{"city":"Lisbon"}' }],
	["input", { input: { city: "Lisbon" } }],
])("the %s of a finish step is the output of the agent, and no model is called for it", async (_, finish) => {
	const model = scriptedModel([]);
	const execution = planActReflect({ planner: stepsPlanner([{ type: "finish", ...finish }]), safety: {} });
	const result = await agent({ model, output, execution }).generate("go");
	expect(result.output).toEqual({ city: "Lisbon", unit: "°C" });
	expect(model.requests).toHaveLength(0);
});

test.each(["planner-output", "tool-input"])(
	"a decision to ask a person at %s blocks, because the strategy cannot ask",
	async (asked) => {
		const ran: unknown[] = [];
		const pay = tool({
			name: "pay",
			description: "Pays.",
			parameters: { type: "object" },
			run: (input: unknown) => ran.push(input),
		} as Parameters<typeof tool>[0]);
		const seen: unknown[] = [];
		const execution = planActReflect({
			planner: stepsPlanner(({ lastResult }) => {
				seen.push(lastResult?.error?.code);
				return lastResult === undefined
					? { type: "tool", toolId: "pay" }
					: { type: "finish", message: "done" };
			}),
			safety: {
				policyEngine: {
					check: ({ point, target }) =>
						point === asked && target !== undefined ? { action: "ask", rule: "sums" } : { action: "allow" },
				},
			},
		});
		const run = await agent({ model: scriptedModel([]), tools: [pay], execution })
			.session("s")
			.send("Pay.");
		expect((await run.result()).outcome).toBe("completed");
		expect(ran).toEqual([]);
		expect(seen).toEqual([undefined, "POLICY_ERROR"]);
	},
);
