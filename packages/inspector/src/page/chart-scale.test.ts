import fc from "fast-check";
import { expect, test } from "vitest";
import { ticksTo } from "./chart-scale.ts";

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
