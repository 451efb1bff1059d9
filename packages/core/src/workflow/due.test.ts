// The ids that are due, in the order of their times.
import fc from "fast-check";
import { expect, test } from "vitest";
import { Due } from "./due.ts";

test("ids are returned by time, and those of one time in the order in which they were added", () => {
	const times = fc.array(fc.nat(20), { maxLength: 60 });
	fc.assert(
		fc.property(times, fc.array(fc.nat(20), { maxLength: 10 }), (given, asked) => {
			const due = new Due();
			for (const [at, until] of given.entries()) due.add(`${at}`, until);
			let left = given.map((until, at) => ({ id: `${at}`, until })).toSorted((a, b) => a.until - b.until);
			for (const now of asked) {
				expect(due.first(() => true)?.id).toBe(left[0]?.id);
				const taken = due.take(now).map(({ id }) => id);
				expect(taken).toEqual(left.filter(({ until }) => until <= now).map(({ id }) => id));
				left = left.filter(({ until }) => until > now);
			}
		}),
	);
});

test("ids that are no longer wanted are skipped", () => {
	const due = new Due();
	for (const [id, until] of [
		["a", 1],
		["b", 2],
		["c", 3],
	] as const)
		due.add(id, until);
	expect(due.first((id) => id === "c")).toMatchObject({ id: "c", until: 3 });
	expect(due.take(10).map(({ id }) => id)).toEqual(["c"]);
	expect(due.first(() => true)).toBeUndefined();
});
