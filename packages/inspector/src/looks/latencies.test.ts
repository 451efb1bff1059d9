import fc from "fast-check";
import { expect, test } from "vitest";
import { addLatency, joinLatencies, type Latencies, quantile } from "./latencies.ts";

const of = (all: readonly number[]): Latencies => all.reduce<Latencies>(addLatency, {});

test("a quantile is within 8 % of the true one, also for latencies that were added in parts", () => {
	const some = fc.array(fc.integer({ min: 1, max: 3_600_000 }), { minLength: 1, maxLength: 200 });
	fc.assert(
		fc.property(some, some, fc.constantFrom(0.5, 0.95, 1), (left, right, share) => {
			const sorted = [...left, ...right].sort((a, b) => a - b);
			const exact = sorted[Math.ceil(sorted.length * share) - 1] ?? 0;
			const found = quantile(joinLatencies(of(left), of(right)), share) ?? 0;
			expect(Math.abs(found - exact)).toBeLessThanOrEqual(exact * 0.08 + 0.5);
		}),
	);
	expect(quantile({}, 0.5)).toBeUndefined();
});
