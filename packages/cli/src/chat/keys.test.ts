import type { Key } from "ink";
import { expect, test } from "vitest";
import { actionsOf } from "./keys.ts";

const none = {} as Key;

test("a word and Enter that come as one are sent; lines that come as one are text", () => {
	expect(actionsOf("y\r", none)).toEqual([{ type: "insert", text: "y" }, { type: "send" }]);
	expect(actionsOf("one\rtwo", none)).toEqual([{ type: "insert", text: "one\rtwo" }]);
	expect(actionsOf("", { ...none, return: true })).toEqual([{ type: "send" }]);
	expect(actionsOf("", { ...none, return: true, meta: true })).toEqual([{ type: "insert", text: "\n" }]);
	expect(actionsOf("x", { ...none, ctrl: true })).toEqual([]);
});
