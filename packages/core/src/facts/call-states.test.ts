// The calls of a step behave like an array of which every version stays valid.
import fc from "fast-check";
import { expect, test } from "vitest";
import { CallStates } from "./call-states.ts";
import type { CallState } from "./run-state.ts";

const made = (first: number, count: number, version: number): CallState[] =>
	Array.from({ length: count }, (_, at) => ({
		call: { toolCallId: `c${first + at}`, toolName: `v${version}`, arguments: {} },
	}));

const change = fc.oneof(
	fc.record({ kind: fc.constant("append" as const), from: fc.nat(50), count: fc.nat(100) }),
	fc.record({ kind: fc.constant("with" as const), from: fc.nat(50), at: fc.nat(500) }),
	fc.record({
		kind: fc.constant("changed" as const),
		from: fc.nat(50),
		every: fc.integer({ min: 2, max: 90 }),
	}),
);

test("every version has its calls and finds them by id, whatever is made from it later", () => {
	fc.assert(
		fc.property(fc.nat(150), fc.array(change, { maxLength: 12 }), (first, changes) => {
			const start = made(0, first, 0);
			const versions = [{ calls: CallStates.of(start), expected: start as readonly CallState[] }];
			for (const [version, each] of changes.entries()) {
				const { calls, expected } = versions[each.from % versions.length] as (typeof versions)[0];
				if (each.kind === "append") {
					const added = made(expected.length + version * 1_000, each.count, version);
					versions.push({ calls: calls.append(added), expected: [...expected, ...added] });
				} else if (each.kind === "with" && expected.length > 0) {
					const at = each.at % expected.length;
					const call: CallState = { ...(expected[at] as CallState), neverRan: true };
					versions.push({ calls: calls.with(at, call), expected: expected.with(at, call) });
				} else if (each.kind === "changed") {
					const changed = (call: CallState, at: number): CallState =>
						at % each.every === 0 ? { ...call, neverRan: true } : call;
					const ids = new Map(expected.map(({ call }, at) => [call.toolCallId, at]));
					const of = (call: CallState): CallState => changed(call, ids.get(call.call.toolCallId) ?? 0);
					versions.push({ calls: calls.changed(of), expected: expected.map(changed) });
				}
			}
			for (const { calls, expected } of versions) {
				expect([...calls]).toEqual(expected);
				expect(calls.length).toBe(expected.length);
				for (const [at, call] of expected.entries()) {
					expect(calls.at(at)).toEqual(call);
					expect(calls.indexOf(call.call.toolCallId)).toBe(at);
				}
				expect(calls.withId("none")).toBeUndefined();
			}
		}),
		{ numRuns: 60 },
	);
});
