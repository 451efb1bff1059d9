import fc from "fast-check";
import { expect, test } from "vitest";
import { readChildStoreKey } from "../host/session-key.ts";
import { namedKey, readTaskKey, taskIdOf, taskKey } from "./task-key.ts";

const suffixes = fc.oneof(
	fc.string(),
	fc.string({ unit: fc.constantFrom("\u0000", "task", "key", "bg_", "a.1.0") }),
	fc.constantFrom("\u0000task\u0000bg_a.1.0", "\u0000key\u0000x", "\u0000", "default", ""),
);

test("the session key that a model chooses is never that of a task [SES-058]", () => {
	const task = taskIdOf("a.1.0");
	fc.assert(
		fc.property(suffixes, (suffix) => {
			const key = namedKey("p", "helper", suffix);
			expect(readTaskKey(key)).toBeUndefined();
			expect(key).not.toBe(taskKey("p", "helper", task));
			expect(readChildStoreKey(key)).toMatchObject({ parentStoreKey: "p", subagent: "helper" });
		}),
	);
	expect(readTaskKey(taskKey("p", "helper", task))).toMatchObject({ taskId: task, runId: "a.1.0" });
});

test("two keys that a model chooses are two sessions; no key is the one called default", () => {
	fc.assert(
		fc.property(suffixes, suffixes, (one, other) => {
			const isSame = (one || "default") === (other || "default");
			expect(namedKey("p", "helper", one) === namedKey("p", "helper", other)).toBe(isSame);
		}),
	);
});
