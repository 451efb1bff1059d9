import { expect, test } from "vitest";
import { planLines, planOf } from "./plan.ts";

const step = (text: string, status: string) => ({ text, status });

test("a plan is read only from calls of update_plan, for any content", () => {
	expect(planOf("update_plan", { steps: [step("a", "done"), step("b", "?"), null, { text: 1 }] })).toEqual([
		step("a", "done"),
		step("b", "pending"),
	]);
	for (const input of [undefined, null, {}, { steps: "a" }])
		expect(planOf("update_plan", input)).toBeUndefined();
	expect(planOf("read_file", { steps: [] })).toBeUndefined();
});

test("the steps around the current one are shown", () => {
	const plan = planOf("update_plan", {
		steps: Array.from({ length: 10 }, (_, at) =>
			step(`s${at}`, at < 4 ? "done" : at === 4 ? "in_progress" : "pending"),
		),
	});
	expect(planLines(plan ?? [], 3)).toEqual(["Plan: 4 of 10 done", "✓ s3", "▸ s4", "☐ s5"]);
	expect(planLines([], 3)).toEqual([]);
});
