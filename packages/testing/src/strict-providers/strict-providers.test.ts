// Requests that providers reject: there must be none. The rules themselves are tested first.
import {
	AssistantMessage,
	type JSONSchema,
	type LLMRequest,
	type Message,
	type ModelTool,
	ToolResultMessage,
	UserMessage,
} from "@holdfast/upp";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { anthropicFault } from "./anthropic-rules.fixture.ts";
import { mistralFault, openaiChatFault } from "./chat-rules.fixture.ts";
import { googleFault } from "./google-rules.fixture.ts";
import { jsonFault } from "./json-rules.fixture.ts";
import { responsesFault } from "./responses-rules.fixture.ts";
import { askAll, strictProviders } from "./strict-providers.fixture.ts";

const providers = strictProviders();

async function refusals(messages: readonly Message[], more: Partial<LLMRequest> = {}): Promise<string[]> {
	const verdicts = await askAll(providers, { messages, config: {}, ...more });
	return verdicts.flatMap(({ provider, refused }) =>
		refused === undefined ? [] : [`${provider}: ${refused}`],
	);
}

function tool(name: string, parameters: unknown = { type: "object", properties: {} }): ModelTool {
	return { name, description: "d", parameters: parameters as JSONSchema };
}

describe("the strict providers reject", () => {
	const call = { id: "c", type: "function", function: { name: "t", arguments: "{}" } };
	const user = { role: "user", content: "q" };
	test.each([
		[
			"five breakpoints",
			anthropicFault({
				messages: [
					{
						role: "user",
						content: Array.from({ length: 5 }, () => ({ type: "text", text: "q", cache_control: {} })),
					},
				],
			}),
		],
		["half a character", jsonFault('{"a":"\\ud83d"}')],
		["an escaped low half", jsonFault('{"a":"x\\udc00"}')],
		["a name with a dot", openaiChatFault({ messages: [user], tools: [{ function: tool("a.b") }] })],
		[
			"a bare object schema",
			openaiChatFault({ messages: [user], tools: [{ function: tool("a", { type: "object" }) }] }),
		],
		[
			"a call without result",
			openaiChatFault({ messages: [user, { role: "assistant", tool_calls: [call] }] }),
		],
		[
			"a result without call",
			openaiChatFault({ messages: [user, { role: "tool", tool_call_id: "c", content: "" }] }),
		],
		[
			"an id of Mistral's with another length",
			mistralFault({
				messages: [user, { role: "assistant", tool_calls: [call] }, { role: "tool", tool_call_id: "c" }],
			}),
		],
		[
			"a user after a tool",
			mistralFault({
				messages: [
					user,
					{ role: "assistant", tool_calls: [{ ...call, id: "123456789" }] },
					{ role: "tool", tool_call_id: "123456789", content: "" },
					user,
				],
			}),
		],
		["blank text", anthropicFault({ messages: [{ role: "user", content: " " }] })],
		[
			"a root union",
			anthropicFault({
				messages: [user],
				tools: [{ name: "a", input_schema: { type: "object", properties: {}, anyOf: [] } }],
			}),
		],
		["an empty part", googleFault({ contents: [{ role: "user", parts: [{ text: "" }] }] })],
		[
			"an open strict schema",
			responsesFault({
				input: [user],
				text: {
					format: {
						type: "json_schema",
						name: "a",
						strict: true,
						schema: { type: "object", properties: { a: { type: "string" } } },
					},
				},
			}),
		],
	])("%s", (_name, fault) => {
		expect(fault).toEqual(expect.any(String));
	});

	test("no ordinary conversation, which is sent to each of them", async () => {
		const messages = [
			new UserMessage("q"),
			new AssistantMessage("", [{ toolCallId: "call_1", toolName: "t", arguments: {} }]),
			new ToolResultMessage([{ toolCallId: "call_1", result: { a: 1 } }]),
		];
		const verdicts = await askAll(providers, { messages, tools: [tool("t")], config: {} });
		expect(verdicts).toHaveLength(6);
		for (const verdict of verdicts) {
			expect(verdict).not.toHaveProperty("refused");
			expect(verdict).not.toHaveProperty("unsupported");
		}
	});
});

describe("no provider rejects", () => {
	test("any name of a tool: the call is returned under its original name", async () => {
		const names = fc.string({
			unit: fc.constantFrom("a", "B", "7", "-", ".", "/", " ", "ö", "😀", "\ud83d"),
			maxLength: 90,
		});
		await fc.assert(
			fc.asyncProperty(fc.uniqueArray(names, { minLength: 1, maxLength: 4 }), async (given) => {
				const calls = given.map((toolName, at) => ({ toolCallId: `c${at}`, toolName, arguments: {} }));
				const messages = [
					new UserMessage("q"),
					new AssistantMessage("", calls),
					new ToolResultMessage(calls.map(({ toolCallId }) => ({ toolCallId, result: "r" }))),
				];
				expect(await refusals(messages, { tools: given.map((name) => tool(name)) })).toEqual([]);
			}),
			{ numRuns: 30 },
		);
	});

	test("any id of a call", async () => {
		const ids = fc.string({
			unit: fc.constantFrom("a", "7", "-", ".", " ", "ö", "|"),
			minLength: 1,
			maxLength: 90,
		});
		await fc.assert(
			fc.asyncProperty(fc.uniqueArray(ids, { minLength: 1, maxLength: 4 }), async (given) => {
				const messages = [
					new UserMessage("q"),
					...given.flatMap((toolCallId) => [
						new AssistantMessage("", [{ toolCallId, toolName: "t", arguments: {} }]),
						new ToolResultMessage([{ toolCallId, result: "r" }]),
					]),
					new UserMessage("and then?"),
				];
				expect(await refusals(messages, { tools: [tool("t")] })).toEqual([]);
			}),
			{ numRuns: 30 },
		);
	});

	test("any text, in any position, also blank and truncated ones", async () => {
		const texts = fc.string({
			unit: fc.constantFrom("a", " ", "\n", "\ud83d", "\ude00", "😀", '"', "\\"),
			maxLength: 4,
		});
		const rounds = fc.array(
			fc.record({ said: texts, answer: texts, argument: texts, result: texts, thought: texts }),
			{
				minLength: 1,
				maxLength: 3,
			},
		);
		await fc.assert(
			fc.asyncProperty(rounds, texts, async (given, system) => {
				const messages = given.flatMap(({ said, answer, argument, result, thought }, at) => [
					new UserMessage(said),
					new AssistantMessage(
						[
							{ type: "reasoning", text: thought },
							{ type: "text", text: answer },
						],
						[{ toolCallId: `c${at}`, toolName: "t", arguments: { [argument]: argument } }],
					),
					new ToolResultMessage([{ toolCallId: `c${at}`, result }]),
					...(at % 2 === 0
						? [new AssistantMessage([{ type: "reasoning", text: thought }])]
						: [new AssistantMessage(answer)]),
				]);
				const all = [...messages, new UserMessage([{ type: "text", text: "" }])];
				expect(await refusals(all, { system, tools: [tool("t")] })).toEqual([]);
			}),
			{ numRuns: 60 },
		);
	});

	test("any history that was cut, seeded or edited, or whose ids are reused", async () => {
		const message = fc.oneof(
			fc.constant("user" as const),
			fc.record({
				calls: fc.array(fc.constantFrom("a", "b", "c"), { maxLength: 2 }),
				says: fc.constantFrom("", "yes"),
			}),
			fc.record({ results: fc.array(fc.constantFrom("a", "b", "c"), { maxLength: 2 }) }),
		);
		await fc.assert(
			fc.asyncProperty(fc.array(message, { maxLength: 10 }), async (given) => {
				const messages = given.map((each) => {
					if (each === "user") return new UserMessage("q");
					if ("results" in each)
						return new ToolResultMessage(each.results.map((toolCallId) => ({ toolCallId, result: "r" })));
					const calls = [...new Set(each.calls)].map((toolCallId) => ({
						toolCallId,
						toolName: "t",
						arguments: {},
					}));
					return new AssistantMessage(each.says, calls);
				});
				// Sends each prefix of the growing conversation, then the history without its beginning.
				for (let length = 0; length <= messages.length; length++) {
					const prefix = [...messages.slice(0, length), new UserMessage("and now?")];
					expect(await refusals(prefix, { tools: [tool("t")] })).toEqual([]);
				}
				expect(await refusals([...messages.slice(2), new UserMessage("z")], { tools: [tool("t")] })).toEqual(
					[],
				);
			}),
			{ numRuns: 40 },
		);
	});

	test("a conversation without any sendable content", async () => {
		const orphans = [new ToolResultMessage([{ toolCallId: "gone", result: "r" }])];
		expect(await refusals(orphans, { system: "Be brief." })).toEqual([]);
		expect(await refusals([new AssistantMessage("")])).toEqual([]);
	});

	test("an answer with only files, and of files with reasoning", async () => {
		const source = { type: "base64", data: "iVBORw0KGgo=" } as const;
		const image = { type: "image", source, mimeType: "image/png" } as const;
		const document = { type: "document", source, mimeType: "application/pdf" } as const;
		const reasoning = { type: "reasoning", text: "Hm." } as const;
		for (const content of [[image], [document], [reasoning, document], [image, document]])
			expect(
				await refusals([new UserMessage("Draw."), new AssistantMessage(content), new UserMessage("More.")]),
			).toEqual([]);
	});

	const ok = { type: "object", properties: { a: { type: "string" } }, required: ["a"] };
	const odd: readonly unknown[] = [
		{ type: "object" },
		{},
		{ properties: { a: { type: "string" } } },
		{ anyOf: [ok, { type: "object", properties: { b: { type: "array" } } }] },
		{ type: "object", oneOf: [ok, ok] },
		{ type: "object", allOf: [ok, { properties: { c: { enum: [] } } }] },
		{ $ref: "#/$defs/In", $defs: { In: { anyOf: [ok, ok] } } },
		{ $ref: "#/definitions/Gone" },
		{
			type: ["object", "null"],
			properties: { t: { type: "array", items: [{ type: "number" }, { type: "string" }] } },
		},
		{ type: "object", properties: [], required: null },
		{
			type: "object",
			properties: {
				a: null,
				b: "text",
				c: { type: "any" },
				d: { type: "int", minimum: 0, exclusiveMinimum: true },
			},
		},
		{
			type: "object",
			properties: {
				a: { type: "object" },
				b: { type: "array", prefixItems: [{ type: "number" }], items: false },
			},
		},
		{ type: "object", properties: { a: { type: "string", required: true } } },
		{ type: "object", properties: {}, required: ["gone"] },
		{ not: { type: "string" } },
		{ type: "string" },
		null,
		[],
	];

	test("any schema of a tool", async () => {
		for (const [at, schema] of odd.entries())
			expect(
				await refusals([new UserMessage("q")], { tools: [tool(`t${at}`, schema)] }),
				JSON.stringify(schema),
			).toEqual([]);
	});

	test("any property name, and the call is returned under its original name", async () => {
		const names = fc.string({
			unit: fc.constantFrom("a", "7", "-", ".", "$", "@", "/", " ", "ö", "😀"),
			minLength: 1,
			maxLength: 90,
		});
		await fc.assert(
			fc.asyncProperty(fc.uniqueArray(names, { minLength: 1, maxLength: 4 }), async (given) => {
				const properties = Object.fromEntries(given.map((name) => [name, { type: "string" }]));
				const parameters = { type: "object", properties, required: given };
				const called = Object.fromEntries(given.map((name) => [name, "v"]));
				const messages = [
					new UserMessage("q"),
					new AssistantMessage("", [{ toolCallId: "c", toolName: "t", arguments: called }]),
					new ToolResultMessage([{ toolCallId: "c", result: "r" }]),
				];
				expect(await refusals(messages, { tools: [tool("t", parameters)] })).toEqual([]);
			}),
			{ numRuns: 30 },
		);
	});

	test("an answer's schema that is not closed, as strict mode requires", async () => {
		for (const schema of odd) {
			if (typeof schema !== "object" || schema === null || Array.isArray(schema)) continue;
			expect(
				await refusals([new UserMessage("q")], { structure: schema as JSONSchema }),
				JSON.stringify(schema),
			).toEqual([]);
		}
	});
});
