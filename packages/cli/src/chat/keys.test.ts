import type { Key } from "ink";
import { expect, test } from "vitest";
import { actionsOf } from "./keys.ts";

const none = {} as Key;

test("a word and Enter that arrive together are sent; lines that arrive together are text", () => {
	expect(actionsOf("y\r", none)).toEqual([{ type: "insert", text: "y" }, { type: "send" }]);
	expect(actionsOf("one\rtwo", none)).toEqual([{ type: "insert", text: "one\rtwo" }]);
	expect(actionsOf("", { ...none, return: true })).toEqual([{ type: "send" }]);
	expect(actionsOf("", { ...none, return: true, meta: true })).toEqual([{ type: "insert", text: "\n" }]);
	expect(actionsOf("x", { ...none, ctrl: true })).toEqual([]);
});

test("keys that arrive together are distinguished, and a line end among words is text", () => {
	const none = {} as Key;
	expect(actionsOf("\u0012see\r", none)).toEqual([
		{ type: "search" },
		{ type: "insert", text: "see" },
		{ type: "send" },
	]);
	expect(actionsOf("a\u0001b", none)).toEqual([
		{ type: "insert", text: "a" },
		{ type: "home" },
		{ type: "insert", text: "b" },
	]);
	expect(actionsOf("a\nb\u0003", none)).toEqual([{ type: "insert", text: "a\nb\u0003" }]);
	expect(actionsOf("é", none)).toEqual([{ type: "insert", text: "é" }]);
});
