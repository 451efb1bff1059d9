import fc from "fast-check";
import { expect, test } from "vitest";
import { IdSet } from "./id-set.ts";

test("a set has what was added to it and nothing else, and older versions stay as they were", () => {
	fc.assert(
		fc.property(
			fc.array(fc.string({ maxLength: 3 })),
			fc.array(fc.string({ maxLength: 3 })),
			(ids, others) => {
				let set = IdSet.empty();
				const model = new Set<string>();
				const versions: [IdSet, Set<string>][] = [];
				for (const id of ids) {
					versions.push([set, new Set(model)]);
					set = set.add(id);
					model.add(id);
				}
				versions.push([set, model]);
				for (const [version, expected] of versions)
					for (const id of [...ids, ...others]) expect(version.has(id)).toBe(expected.has(id));
			},
		),
	);
});

test("adding costs the same with many ids, those of one hash included", () => {
	let set = IdSet.empty();
	for (let at = 0; at < 100_000; at++) set = set.add(`call_${at}`);
	expect([set.has("call_99999"), set.has("call_100000")]).toEqual([true, false]);
});
