import { describe, expect, test } from "vitest";
import { defineAgent } from "./index.ts";

const side = { prompt: "help" };

function define(options: object): unknown {
	return defineAgent(options as never);
}

describe("defineAgent", () => {
	test.each([
		["name", { sideA: side }],
		["name", { name: "", sideA: side }],
		["sideA", { name: "a" }],
		["sideA.prompt", { name: "a", sideA: {} }],
		["sideB.prompt", { name: "a", type: "dual_ai", sideA: side, sideB: { label: "x" } }],
	])("throws and names %s if it is missing [SA-001]", (field, options) => {
		expect(() => define(options)).toThrow(expect.objectContaining({ code: "invalid_definition" }));
		expect(() => define(options)).toThrow(`\`${field}\``);
	});

	test.each([0, -1, 1.5, Number.NaN, "3", null])("throws for %s steps or turns [SA-001]", (count) => {
		expect(() => define({ name: "a", sideA: { ...side, maxSteps: count } })).toThrow("`sideA.maxSteps`");
		expect(() => define({ name: "a", sideA: side, maxSessionTurns: count })).toThrow("`maxSessionTurns`");
		const dual = { name: "a", type: "dual_ai", sideA: side, sideB: { ...side, maxSteps: count } };
		expect(() => define(dual)).toThrow("`sideB.maxSteps`");
	});

	test("accepts positive counts [SA-001]", () => {
		const agent = { name: "a", sideA: { ...side, maxSteps: 1 }, maxSessionTurns: 4 };
		expect(define(agent)).toMatchObject(agent);
	});

	test("creates an `ai_human` agent without a type, and rejects other types [SA-002]", () => {
		expect(define({ name: "a", sideA: side })).toMatchObject({ type: "ai_human" });
		expect(() => define({ name: "a", sideA: side, type: "human" })).toThrow("`type`");
	});

	test("rejects a `dual_ai` agent without a second side [SA-002]", () => {
		expect(() => define({ name: "a", type: "dual_ai", sideA: side })).toThrow("`sideB`");
		const dual = { name: "a", type: "dual_ai", sideA: side, sideB: side };
		expect(define(dual)).toEqual(dual);
	});

	test("rejects an exposed agent without a description [SA-014]", () => {
		expect(() => define({ name: "a", sideA: side, exposeAsTool: true })).toThrow("`toolDescription`");
		const exposed = { name: "a", sideA: side, exposeAsTool: true, toolDescription: "Asks a." };
		expect(define(exposed)).toMatchObject(exposed);
	});

	test.each([null, undefined, 1, "a", []])("rejects %s instead of options", (options) => {
		expect(() => defineAgent(options as never)).toThrow(
			expect.objectContaining({ code: "invalid_definition" }),
		);
	});
});
