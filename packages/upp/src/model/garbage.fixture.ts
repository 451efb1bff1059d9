// Values that nobody should answer with, and what has to hold of every answer that is let through.
import fc from "fast-check";
import { expect } from "vitest";
import {
	type AssistantMessage,
	decodeValue,
	encodeValue,
	type JSONValue,
	messageFromJSON,
	messageToJSON,
} from "../messages/index.ts";
import type { LLMResponse } from "./model-port.ts";

/** The paths of a value and of everything in it. */
export function pathsOf(value: unknown, path: readonly string[] = []): (readonly string[])[] {
	if (typeof value !== "object" || value === null || value instanceof Date || value instanceof Uint8Array)
		return [path];
	return [path, ...Object.entries(value).flatMap(([key, inner]) => pathsOf(inner, [...path, key]))];
}

/** The value with other data at a path; `remove` takes the member away. The value itself is changed. */
export function changed(value: unknown, path: readonly string[], garbage: unknown): unknown {
	const root: any = { value };
	const [name = "", ...before] = ["value", ...path].reverse();
	const parent = before.reverse().reduce((inner, key) => inner[key], root);
	if (garbage === remove) delete parent[name];
	else parent[name] = garbage;
	return root.value;
}

const remove = Symbol("remove");
const circular: Record<string, unknown> = {};
circular.self = circular;
export const nested = (levels: number): unknown =>
	JSON.parse(`${'{"a":'.repeat(levels)}1${"}".repeat(levels)}`);
/** Not enumerable, so that a counterexample can be printed. */
const unreadable = Object.defineProperty({ type: "text" }, "text", {
	get() {
		throw new Error("It cannot be read.");
	},
});
class Point {
	x = 1;
}
export const garbage = fc.oneof(
	{
		weight: 3,
		arbitrary: fc.constantFrom<unknown>(
			remove,
			undefined,
			null,
			"",
			"text",
			0,
			-1,
			1.5,
			Number.NaN,
			Number.POSITIVE_INFINITY,
			true,
			[],
			[null],
			["a"],
			{},
			{ type: "text" },
			{ type: "text", text: 1 },
			{ type: "what", text: "" },
			{ toJSON: () => "other" },
			{
				toJSON: () => {
					throw new Error("no");
				},
			},
			unreadable,
			1n,
			() => 1,
			Symbol("s"),
			new Map([["a", 1]]),
			new Float64Array(1),
			new Uint8Array(1),
			new Date(0),
			new Date(Number.NaN),
			new Point(),
			circular,
			nested(499),
			nested(501),
			nested(20_000),
			Promise.resolve(1),
		),
	},
	fc.anything({
		withBigInt: true,
		withMap: true,
		withSet: true,
		withDate: true,
		withTypedArray: true,
		withNullPrototype: true,
		withSparseArray: true,
	}),
);
/** Fails for an answer that could be committed and not be read again. */
export function expectReadable(response: LLMResponse): void {
	const { message, usage, data, stopReason } = response;
	const written = messageToJSON(message);
	const read = messageFromJSON(JSON.parse(JSON.stringify(written))) as AssistantMessage;
	expect(messageToJSON(read)).toEqual(written);
	expect(read.hasToolCalls).toBe(message.hasToolCalls);
	expect(typeof message.text).toBe("string");
	const { inputTokens, outputTokens, totalTokens } = JSON.parse(JSON.stringify(usage));
	expect([inputTokens, outputTokens, totalTokens]).toEqual([
		usage.inputTokens,
		usage.outputTokens,
		usage.totalTokens,
	]);
	for (const count of [inputTokens, outputTokens, totalTokens]) expect(count).toBeTypeOf("number");
	expect(stopReason).toBeTypeOf("string");
	const kept = encodeValue(data);
	expect(encodeValue(decodeValue(JSON.parse(JSON.stringify(kept)) as JSONValue))).toEqual(kept);
}
