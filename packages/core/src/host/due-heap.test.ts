// Items that are due, in the order of their times.
import fc from "fast-check";
import { expect, test } from "vitest";
import { DueHeap } from "./due-heap.ts";

test("items leave in the order of their times, and those of one time in the order in which they came", () => {
	const times = fc.array(fc.integer({ min: 0, max: 9 }));
	fc.assert(
		fc.property(times, times, fc.integer({ min: 0, max: 9 }), (before, after, kept) => {
			const heap = new DueHeap<number>();
			for (const [at, time] of before.entries()) heap.add(at, time);
			heap.keep(({ dueAt }) => dueAt <= kept);
			for (const [at, time] of after.entries()) heap.add(before.length + at, time);
			const expected = [...before, ...after]
				.map((dueAt, item) => ({ item, dueAt }))
				.filter(({ item, dueAt }) => item >= before.length || dueAt <= kept)
				.sort((one, other) => one.dueAt - other.dueAt || one.item - other.item);
			const left: unknown[] = [];
			for (let first = heap.first; first !== undefined; first = heap.first) {
				left.push({ item: first.item, dueAt: first.dueAt });
				heap.shift();
			}
			expect(left).toEqual(expected);
		}),
	);
});
