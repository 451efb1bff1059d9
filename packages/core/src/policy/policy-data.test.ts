import { scriptedModel } from "@holdfast/testing";
import fc from "fast-check";
import { expect, test } from "vitest";
import { Agent } from "../agent/agent.ts";
import { childStoreKey, keysOf, memoryValues, type ValueStore } from "../host/index.ts";
import { policyValues } from "./policy-data.ts";
import { callKey, isReservedKey } from "./policy-run.ts";

/** Keys with the marks and the forms of other kinds of keys. */
const text = fc.oneof(
	fc.string(),
	fc.string({ unit: fc.constantFrom("\u0000", "key", "ns", "sub", "call", "call:", "1", "a") }),
);
const namespace = fc.option(text, { nil: undefined });
const childKey = fc.tuple(text, text, text).map((parts) => childStoreKey(...parts));

test("no two sessions and calls share what plugins store for them", () => {
	const plain = text.filter((key) => !isReservedKey(key));
	const key = fc.oneof(plain, childKey, text.map(callKey));
	fc.assert(
		fc.property(namespace, fc.uniqueArray(key, { minLength: 2, maxLength: 20 }), (of, keys) => {
			const kept = memoryValues();
			const values = policyValues(() => kept, keysOf(of));
			for (const each of keys) void values.values(each, "plugin").set("key", each);
			for (const each of keys) expect(values.values(each, "plugin").get("key")).toBe(each);
		}),
		{ numRuns: 2_000 },
	);
});

test("stores what belongs to a session under its store key, and what belongs to a call nowhere", () => {
	fc.assert(
		fc.property(namespace, text, (of, key) => {
			const asked: string[] = [];
			const kept = memoryValues();
			const spied: ValueStore = {
				...kept,
				values(storeKey, owner) {
					asked.push(storeKey);
					return kept.values(storeKey, owner);
				},
			};
			const keys = keysOf(of);
			const values = policyValues(() => spied, keys);
			values.values(key, "plugin").get("name");
			const child = childStoreKey(keys.storeKeyOf(key), "helper", "default");
			values.values(child, "plugin").get("name");
			values.values(callKey(key), "plugin").get("name");
			expect(asked).toEqual(isReservedKey(key) ? asked : [keys.storeKeyOf(key), child]);
			expect(asked.at(-1)).toBe(child);
		}),
	);
});

test("no session can have a key of the form of a call's or a sub-agent's", () => {
	const agent = new Agent({ model: scriptedModel([]) });
	fc.assert(
		fc.property(
			fc.oneof(
				text.filter((key) => key !== ""),
				childKey,
				text.map(callKey),
			),
			(key) => {
				const open = () => agent.session(key);
				if (isReservedKey(key)) expect(open).toThrow(expect.objectContaining({ code: "invalid_argument" }));
				else expect(open).not.toThrow();
			},
		),
	);
});
