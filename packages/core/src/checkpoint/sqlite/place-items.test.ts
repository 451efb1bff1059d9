import fc from "fast-check";
import { expect, test } from "vitest";
import { readRanges, toRanges } from "./number-ranges.ts";
import { noItems, placeItems, type StoredItems } from "./place-items.ts";

test("appended items get the next rows, so that a list is one range, even with equal items", () => {
	let stored: StoredItems = noItems;
	const texts: string[] = [];
	for (const text of ["a", "b", "a", "a", "c"]) {
		texts.push(text);
		const placed = placeItems(stored, [...texts]);
		expect(placed.added).toEqual([texts.length - 1]);
		expect(placed.dropped).toEqual([]);
		stored = placed.stored;
	}
	expect(toRanges(stored.numbers)).toBe("1-5");
});

test("items removed at the front are dropped, kept items keep their rows, inserted items get a new one", () => {
	const { stored } = placeItems(noItems, ["a", "b", "c", "d"]);
	const placed = placeItems(stored, ["summary", "c", "d", "e"]);
	expect(placed.dropped).toEqual([1, 2]);
	expect(placed.added).toEqual([0, 3]);
	expect(toRanges(placed.stored.numbers)).toBe("5,3-4,6");
});

test("a window that moves over equal items stays one range", () => {
	const { stored } = placeItems(noItems, ["first", "same", "same", "last"]);
	expect(toRanges(placeItems(stored, ["same", "same", "last", "new"]).stored.numbers)).toBe("2-5");
});

test("for any lists, each row holds the right item and unused rows are dropped", () => {
	const list = fc.array(fc.constantFrom("a", "b", "c", "d"), { maxLength: 8 });
	fc.assert(
		fc.property(fc.array(list, { maxLength: 6 }), (lists) => {
			const rows = new Map<number, string>();
			let stored: StoredItems = noItems;
			for (const digests of lists) {
				const placed = placeItems(stored, digests);
				for (const number of placed.dropped) rows.delete(number);
				for (const at of placed.added) {
					const number = placed.stored.numbers[at] as number;
					expect(rows.has(number)).toBe(false);
					rows.set(number, digests[at] as string);
				}
				stored = placed.stored;
				expect(stored.numbers.map((number) => rows.get(number))).toEqual(digests);
				expect(rows.size).toBe(digests.length);
			}
		}),
	);
});

test("ranges are read back as written, and other texts are rejected", () => {
	fc.assert(
		fc.property(fc.array(fc.integer({ min: 1, max: 30 })), (numbers) => {
			const ranges = readRanges(toRanges(numbers)) ?? [];
			const read = ranges.flatMap(([first, last]) =>
				Array.from({ length: last - first + 1 }, (_, at) => first + at),
			);
			expect(read).toEqual(numbers);
		}),
	);
	for (const text of ["1-", "a", "1,,2", "1-2-3", " 1", "null"]) expect(readRanges(text)).toBeUndefined();
});
