import { expect, test } from "vitest";
import { messageOf } from "./message-of.ts";

const hostile = new Error("x");
Object.defineProperty(hostile, "message", {
	get() {
		throw new Error("again");
	},
});
const { proxy, revoke } = Proxy.revocable({}, {});
revoke();
const circular: { self?: unknown } = {};
circular.self = circular;

test.each([
	["an error", new Error("It broke."), "It broke."],
	["an error of another realm", { name: "Error", message: "It broke." }, "It broke."],
	["an error without a message", new TypeError(""), "TypeError"],
	["an error whose message is no text", Object.assign(new Error("x"), { message: 5 }), "Error: 5"],
	["a text", "It broke.", "It broke."],
	["a number", 5, "5"],
	["a symbol", Symbol("why"), "Symbol(why)"],
	["data", { status: 500 }, '{"status":500}'],
	["an object without a prototype", Object.assign(Object.create(null), { status: 500 }), '{"status":500}'],
	["nothing", undefined, "It gave no reason."],
	["null", null, "It gave no reason."],
	["an empty text", "", "It gave no reason."],
	["an error that throws when it is read", hostile, "It gave no reason."],
	["a proxy that is revoked", proxy, "It gave no reason."],
	["data that is no JSON", circular, "It gave no reason."],
	[
		"a function whose text throws",
		Object.assign(() => 0, { toString: () => hostile.message }),
		"It gave no reason.",
	],
])("the message of %s is never empty, and reading it never throws", (_name, thrown, message) => {
	expect(messageOf(thrown)).toBe(message);
});
