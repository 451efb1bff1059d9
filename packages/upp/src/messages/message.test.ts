import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
	AssistantMessage,
	isAssistantMessage,
	isMessage,
	isToolResultMessage,
	isUserMessage,
	Message,
	type MessageJSON,
	messageToJSON,
	ToolResultMessage,
	UserMessage,
} from "./message.ts";
import { messageFromJSON } from "./message-from-json.ts";

describe("a message", () => {
	test("has its own id and time unless they are given", () => {
		const made = new UserMessage("hello");
		expect(made.id).toMatch(/^[0-9a-f-]{36}$/);
		expect(made.timestamp).toBeInstanceOf(Date);
		const timestamp = new Date(1000);
		const given = new UserMessage("hello", { id: "m1", timestamp, metadata: { openai: { a: 1 } } });
		expect(given).toMatchObject({ id: "m1", timestamp, metadata: { openai: { a: 1 } } });
		expect({ ...given }).toEqual({
			id: "m1",
			timestamp,
			metadata: { openai: { a: 1 } },
			type: "user",
			content: [{ type: "text", text: "hello" }],
		});
	});

	test("has the text of its text blocks, joined by a blank line", () => {
		const message = new AssistantMessage([
			{ type: "reasoning", text: "hm" },
			{ type: "text", text: "one" },
			{ type: "image", source: { type: "url", url: "http://x/y.png" }, mimeType: "image/png" },
			{ type: "text", text: "two" },
		]);
		expect(message.text).toBe("one\n\ntwo");
		expect(new AssistantMessage([]).text).toBe("");
		expect(new ToolResultMessage([{ toolCallId: "1", result: { a: 1 } }]).text).toBe('{"a":1}');
	});

	test("reports whether it calls tools", () => {
		const call = { toolCallId: "1", toolName: "add", arguments: {} };
		expect(new AssistantMessage("x").hasToolCalls).toBe(false);
		expect(new AssistantMessage("x", []).hasToolCalls).toBe(false);
		expect(new AssistantMessage("x", [call]).hasToolCalls).toBe(true);
	});

	test("is recognised by guards, also if another copy of the package created it", async () => {
		const user = new UserMessage("x");
		const results = new ToolResultMessage([]);
		expect([isUserMessage(user), isAssistantMessage(user), isToolResultMessage(results)]).toEqual([
			true,
			false,
			true,
		]);
		expect([isMessage({ type: "user" }), isMessage(null), isMessage("user")]).toEqual([false, false, false]);
		const copyOfModule = "./message.ts?another-copy";
		const copy = (await import(/* @vite-ignore */ copyOfModule)) as { UserMessage: typeof UserMessage };
		const foreign = new copy.UserMessage("x");
		expect(foreign).not.toBeInstanceOf(Message);
		expect(isUserMessage(foreign)).toBe(true);
	});
});

const metadata = fc.dictionary(
	fc.string(),
	fc.dictionary(fc.string(), fc.oneof(fc.jsonValue(), fc.uint8Array({ maxLength: 9 }))) as fc.Arbitrary<
		Record<string, unknown>
	>,
);
const options = fc.record(
	{ id: fc.string(), timestamp: fc.date({ noInvalidDate: true }), metadata },
	{ requiredKeys: ["id", "timestamp"] },
) as fc.Arbitrary<{ id: string; timestamp: Date }>;
const data = fc.uint8Array({ maxLength: 20 });
const content = fc.array(
	fc.oneof(
		fc.record({ type: fc.constant("text" as const), text: fc.string() }),
		fc.record({ type: fc.constant("audio" as const), data, mimeType: fc.constant("audio/wav") }),
		fc.record({
			type: fc.constant("image" as const),
			source: fc.record({ type: fc.constant("bytes" as const), data }),
			mimeType: fc.constant("image/png"),
			width: fc.nat(),
		}),
		fc.record({
			type: fc.constant("binary" as const),
			data,
			mimeType: fc.string(),
			metadata: fc.constant({ nested: { bytes: new Uint8Array([1, 2]) } }),
		}),
	),
	{ maxLength: 4 },
);
const toolCalls = fc.array(
	fc.record({
		toolCallId: fc.string(),
		toolName: fc.string(),
		arguments: fc.dictionary(fc.string(), fc.jsonValue()) as fc.Arbitrary<Record<string, unknown>>,
	}),
	{ maxLength: 3 },
);
const results = fc.array(
	fc.record({ toolCallId: fc.string(), result: fc.oneof(fc.jsonValue(), data), isError: fc.boolean() }),
	{ maxLength: 3 },
);
const message = fc.oneof(
	fc.tuple(content, options).map(([blocks, given]) => new UserMessage(blocks, given)),
	fc
		.tuple(content, toolCalls, options)
		.map(([blocks, calls, given]) => new AssistantMessage(blocks, calls, given)),
	fc.tuple(results, options).map(([entries, given]) => new ToolResultMessage(entries, given)),
);

describe("a message as JSON", () => {
	test("is read back exactly: id, time to the millisecond, metadata and bytes [UAP-129]", () => {
		fc.assert(
			fc.property(message, (given) => {
				const back = messageFromJSON(JSON.parse(JSON.stringify(given)));
				expect(back).toEqual(given);
				expect(back).toBeInstanceOf(given.constructor as never);
				expect(messageToJSON(back)).toEqual(messageToJSON(given));
			}),
			{ numRuns: 300 },
		);
	});

	const good: MessageJSON = { id: "m", type: "user", content: [], timestamp: "2026-01-01T00:00:00.000Z" };
	test.each<[string, unknown, string]>([
		["no object", "text", ""],
		["no id", { ...good, id: 1 }, "id"],
		["an unknown type", { ...good, type: "system" }, "type"],
		["a time that is not one", { ...good, timestamp: "yesterday" }, "timestamp"],
		["content that is no list", { ...good, content: "x" }, "content"],
		["an unknown block", { ...good, content: [{ type: "text", text: "" }, { type: "tex" }] }, "content.1"],
		["text that is not text", { ...good, content: [{ type: "text", text: 1 }] }, "content.0.text"],
		[
			"a call without arguments",
			{ ...good, type: "assistant", toolCalls: [{ toolCallId: "1", toolName: "a" }] },
			"toolCalls.0.arguments",
		],
		["results without ids", { ...good, type: "tool_result", results: [{}] }, "results.0.toolCallId"],
		["metadata that is not an object", { ...good, metadata: [] }, "metadata"],
		["a damaged marker", { ...good, content: [{ $holdfast: [] }] }, "content"],
	])("with %s is rejected, and the error has the path", (_, json, path) => {
		expect(() => messageFromJSON(json as MessageJSON)).toThrow(
			expect.objectContaining({ code: "invalid_message", data: { path } }),
		);
	});
});
