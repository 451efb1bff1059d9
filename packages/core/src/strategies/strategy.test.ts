import { scriptedModel } from "@holdfast/testing";
import { describe, expect, test } from "vitest";
import { agent } from "../agent/agent.ts";
import type { Action, Decider } from "../engine/action.ts";
import { loop } from "./loop.ts";
import { plan } from "./plan.ts";
import { react } from "./react.ts";
import { strategy } from "./strategy.ts";

describe("a decider that names no action", () => {
	const cases: [string, () => unknown, RegExp][] = [
		["undefined", () => undefined, /undefined/],
		["a promise", async () => ({ kind: "finish" }), /a promise/],
		["a promise that rejects", () => Promise.reject(new Error("no")), /a promise/],
		["an unknown kind", () => ({ kind: "done" }), /the unknown kind "done"/],
		["an object of another shape", () => ({}), /without `kind`/],
	];
	test.each(cases)("but %s ends the run with an error that explains it", async (_, decide, what) => {
		const execution = strategy({ name: "odd", decide: decide as () => Action });
		const expected = expect.objectContaining({
			code: "invalid_action",
			message: expect.stringMatching(what),
			data: { strategy: "odd" },
		});
		const one = agent({ model: scriptedModel(["never"]), execution });
		await expect(one.query("go")).rejects.toEqual(expected);
		const { error } = await (await one.session("a").send("go")).result();
		expect(error).toMatchObject({ code: "invalid_action" });
		await one.close();
	});
});

test.each([[undefined], [{ name: "lazy" }], [{ name: "lazy", decide: "later" }], [{ decide: () => ({}) }]])(
	"strategy(%j) is rejected at creation",
	(given) => {
		expect(() => strategy(given as unknown as Decider)).toThrow(
			expect.objectContaining({ code: "invalid_strategy" }),
		);
	},
);

describe("a limit of steps", () => {
	const makers: [string, (limit: number) => unknown][] = [
		["maxIterations", (maxIterations) => loop({ maxIterations })],
		["maxSteps", (maxSteps) => react({ maxSteps })],
		["maxPlanSteps", (maxPlanSteps) => plan({ maxPlanSteps })],
	];
	test.each(makers)("`%s` is a whole number from 1, or Infinity", (name, make) => {
		for (const wrong of [Number.NaN, -1, 0, 1.5, "2" as unknown as number]) {
			expect(() => make(wrong)).toThrow(TypeError);
			expect(() => make(wrong)).toThrow(`\`${name}\``);
		}
		for (const right of [1, 7, Number.POSITIVE_INFINITY]) expect(() => make(right)).not.toThrow();
	});
});
