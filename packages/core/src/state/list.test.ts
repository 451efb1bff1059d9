import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { List } from "./list.ts";

type Operation =
	| { kind: "append"; version: number; item: number }
	| { kind: "appendAll"; version: number; items: number[] }
	| { kind: "until"; version: number; end: number }
	| { kind: "read"; version: number; position: number };

const version = fc.nat(60);
const operation: fc.Arbitrary<Operation> = fc.oneof(
	fc.record({ kind: fc.constant("append" as const), version, item: fc.integer() }),
	fc.record({
		kind: fc.constant("appendAll" as const),
		version,
		items: fc.array(fc.integer(), { maxLength: 5 }),
	}),
	fc.record({ kind: fc.constant("until" as const), version, end: fc.integer({ min: -1, max: 9 }) }),
	fc.record({ kind: fc.constant("read" as const), version, position: fc.integer({ min: -70, max: 70 }) }),
);

function sameAsArray(list: List<number>, array: readonly number[], position: number): void {
	expect(list.length).toBe(array.length);
	expect(list.at(position)).toBe(array.at(position));
	expect(list.from(Math.abs(position))).toEqual(array.slice(Math.abs(position)));
}

describe("a list with shared structure", () => {
	test("equals plain arrays, for any appends to any versions", () => {
		fc.assert(
			fc.property(fc.array(operation, { maxLength: 60 }), (operations) => {
				const lists = [List.empty<number>()];
				const arrays: number[][] = [[]];
				for (const operation of operations) {
					const at = operation.version % lists.length;
					const [list, array] = [lists[at] as List<number>, arrays[at] as number[]];
					if (operation.kind === "read") {
						sameAsArray(list, array, operation.position);
						continue;
					}
					if (operation.kind === "until") {
						lists.push(list.until(operation.end));
						arrays.push(array.slice(0, Math.max(0, operation.end)));
						continue;
					}
					const items = operation.kind === "append" ? [operation.item] : operation.items;
					lists.push(operation.kind === "append" ? list.append(operation.item) : list.appendAll(items));
					arrays.push([...array, ...items]);
				}
				for (const [at, list] of lists.entries()) {
					expect(list.toArray()).toEqual(arrays[at]);
					expect([...list]).toEqual(arrays[at]);
				}
			}),
			{ numRuns: 300 },
		);
	});

	test("finds every position in a chain of 10,000 forks of forks without walking the chain", () => {
		let list = List.from([0]);
		for (let depth = 1; depth <= 10_000; depth++) {
			list.append(-depth); // the discarded line: the next append has to fork
			list = list.append(depth);
		}
		expect(list.toArray()).toEqual(Array.from({ length: 10_001 }, (_, index) => index));
		expect(list.from(9_990)).toEqual([
			9_990, 9_991, 9_992, 9_993, 9_994, 9_995, 9_996, 9_997, 9_998, 9_999, 10_000,
		]);
		let fastest = Number.POSITIVE_INFINITY;
		for (let run = 0; run < 5; run++) {
			const start = performance.now();
			for (let index = 0; index < 10_000; index++)
				if (list.at(index) !== index) throw new Error(`at ${index}`);
			fastest = Math.min(fastest, performance.now() - start);
		}
		// Jumping takes some 20 hops for each position; walking the chain would take 50,000,000 in all.
		expect(fastest).toBeLessThan(40);
	});

	test("holds arrays as items without flattening them", () => {
		const first = List.from([[1]]);
		first.append([2]);
		expect(first.append([3]).toArray()).toEqual([[1], [3]]);
	});

	test("shows its items as one frozen array", () => {
		const list = List.from([1, 2]);
		expect(list.toArray()).toBe(list.toArray());
		expect(() => (list.toArray() as number[]).push(3)).toThrow(TypeError);
	});

	test("has nothing at positions out of range", () => {
		const list = List.from(["a"]);
		for (const position of [1, -2, Number.NaN, 0.5]) expect(list.at(position)).toBeUndefined();
		expect(List.empty().at(0)).toBeUndefined();
	});
});
