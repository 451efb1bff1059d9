import fc from "fast-check";
import { expect, test } from "vitest";
import { IdSet } from "./id-set.ts";

const id = fc.oneof(fc.string({ maxLength: 2 }), fc.constantFrom("__proto__", "constructor", "0"));

test("a set contains exactly the added ids, regardless of the version it continues", () => {
	fc.assert(
		fc.property(
			fc.array(fc.record({ id, from: fc.nat({ max: 30 }), isNewest: fc.boolean() }), { maxLength: 80 }),
			(additions) => {
				const versions: { set: IdSet; has: ReadonlySet<string> }[] = [{ set: IdSet.empty(), has: new Set() }];
				for (const { id, from, isNewest } of additions) {
					const at = isNewest ? versions.length - 1 : from % versions.length;
					const { set, has } = versions[at] as (typeof versions)[number];
					versions.push({ set: set.add(id), has: new Set([...has, id]) });
				}
				for (const { set, has } of versions)
					for (const { id } of additions) expect(set.has(id)).toBe(has.has(id));
			},
		),
	);
});

test("many ids cost the same each, added in sequence or each to a fork of the previous version", () => {
	let line = IdSet.empty();
	for (let at = 0; at < 100_000; at++) line = line.add(`call_${at}`);
	expect([line.has("call_99999"), line.has("call_100000")]).toEqual([true, false]);
	let forked = IdSet.empty();
	for (let at = 0; at < 20_000; at++) {
		forked.add(`other_${at}`);
		forked = forked.add(`call_${at}`);
	}
	expect([forked.has("call_0"), forked.has("call_19999"), forked.has("other_19999")]).toEqual([
		true,
		true,
		false,
	]);
});
