import { scriptedModel } from "@holdfast/testing";
import { agent } from "holdfast";
import { expect, test } from "vitest";
import { z } from "zod";
import { stepsPlanner } from "../loop/index.ts";
import { planActReflect } from "./strategy.ts";

const output = z.object({ city: z.string(), unit: z.string().default("°C") });

test.each([
	["message", { message: '{"city":"Lisbon"}' }],
	["input", { input: { city: "Lisbon" } }],
])("the %s of a finish step is the output of the agent, and no model is asked for it", async (_, finish) => {
	const model = scriptedModel([]);
	const execution = planActReflect({ planner: stepsPlanner([{ type: "finish", ...finish }]), safety: {} });
	const result = await agent({ model, output, execution }).generate("go");
	expect(result.output).toEqual({ city: "Lisbon", unit: "°C" });
	expect(model.requests).toHaveLength(0);
});
