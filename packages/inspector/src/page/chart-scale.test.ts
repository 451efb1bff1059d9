import fc from "fast-check";
import { expect, test } from "vitest";
import { formatTick, ticksTo } from "./chart-scale.ts";

test("an axis has two to six round ticks from 0, and the last one holds the largest value", () => {
	const most = fc.double({ min: 1e-6, max: 1e12, noNaN: true });
	fc.assert(
		fc.property(most, (value) => {
			const ticks = ticksTo(value);
			expect(ticks[0]).toBe(0);
			expect(ticks.length).toBeGreaterThanOrEqual(2);
			expect(ticks.length).toBeLessThanOrEqual(6);
			expect(ticks.at(-1)).toBeGreaterThanOrEqual(value * (1 - 1e-6));
		}),
	);
	expect(ticksTo(0)).toEqual([0, 1]);
	expect(ticksTo(37)).toEqual([0, 10, 20, 30, 40]);
	expect(ticksTo(2, true)).toEqual([0, 1, 2]);
});

test("the times of a chart differ: within minutes they have seconds, and over days they are dates", () => {
	const at = new Date(2026, 10, 20, 14, 3, 22).getTime();
	expect([20_000, 3_600_000, 10 * 86_400_000].map((span) => formatTick(at, span))).toEqual([
		"14:03:22",
		"14:03",
		"Nov 20",
	]);
});
