import { scriptedModel } from "@holdfast/testing";
import { AssistantMessage, type LLMResponse, type StreamEvent } from "@holdfast/upp";
import { describe, expect, test } from "vitest";
import { createSession, execute } from "./create-session.ts";
import {
	all,
	asks,
	faultsOf,
	locate,
	messagesIn,
	only,
	played,
	says,
	streamingModel,
	toolResult,
	types,
} from "./execute.fixture.ts";
import type { SessionMessage } from "./session-message.ts";

const usage = { inputTokens: 3, outputTokens: 2, totalTokens: 5 };

function whole(
	content: ConstructorParameters<typeof AssistantMessage>[0],
	calls: readonly { id: string; name?: string; arguments?: Record<string, unknown> }[] = [],
	stopReason: LLMResponse["stopReason"] = calls.length === 0 ? "stop" : "tool_calls",
): LLMResponse {
	const toolCalls = calls.map(({ id, name = "locate", arguments: given = {} }) => ({
		toolCallId: id,
		toolName: name,
		arguments: given,
	}));
	return {
		message: new AssistantMessage(content, toolCalls.length === 0 ? undefined : toolCalls),
		usage,
		stopReason,
	};
}

const text = (index: number, piece: string): StreamEvent => ({
	type: "text_delta",
	index,
	delta: { text: piece },
});
const thinks = (index: number, piece: string): StreamEvent => ({
	type: "reasoning_delta",
	index,
	delta: { text: piece },
});
const calls = (index: number, toolCallId: string | undefined, argumentsJson: string): StreamEvent => ({
	type: "tool_call_delta",
	index,
	delta: { ...(toolCallId === undefined ? {} : { toolCallId, toolName: "locate" }), argumentsJson },
});

/** Returns the events of one execution of a model that streams exactly these events. */
async function streamed(events: readonly StreamEvent[], response: LLMResponse) {
	const session = createSession("s", { tools: [locate] }, { model: streamingModel([{ events, response }]) });
	return played(execute(session, says("go")));
}

test("every execution starts with session_start, once, and emits the user's message before the answer [API-001, API-003]", async () => {
	const model = scriptedModel([{ text: "Wait", toolCalls: [asks("a")] }, "There."]);
	const session = createSession("trip", { tools: [locate] }, { model });
	const first = await played(execute(session, says("Where am I?")));
	expect(first.events.slice(0, 4)).toEqual([
		{ type: "session_start", sessionId: "trip" },
		{ type: "message_start", role: "user" },
		{ type: "message_end", message: expect.objectContaining({ role: "user", content: "Where am I?" }) },
		{ type: "message_start", role: "assistant" },
	]);
	expect(first.events[2]).toMatchObject({ message: session.messages[0] });
	const second = await played(execute(session, [toolResult("a")]));
	expect(second.events[0]).toEqual({ type: "session_start", sessionId: "trip" });
	for (const { events } of [first, second]) {
		expect(only(events, "session_start")).toHaveLength(1);
		expect(faultsOf(events)).toEqual([]);
	}
});

test("session_end is the last event, once, and has only the messages of its execution [API-002]", async () => {
	const earlier: SessionMessage[] = Array.from({ length: 50 }, (_, number) =>
		number % 2 === 0
			? says(`question ${number}`)
			: {
					role: "assistant",
					id: `m${number}`,
					content: [{ type: "text", text: `answer ${number}` }],
					model: "scripted",
					stopReason: "stop",
					usage,
					timestamp: number,
				},
	);
	const model = scriptedModel(["One.", "Two."]);
	const session = createSession("s", { messages: earlier }, { model });
	for (const question of ["first", "second"]) {
		const { events, result } = await played(execute(session, says(question)));
		expect(only(events, "session_end")).toHaveLength(1);
		expect(events.at(-1)).toEqual({ type: "session_end", sessionId: "s", messages: messagesIn(events) });
		expect(result.messages).toEqual(messagesIn(events));
		expect(result.messages.map(({ role }) => role)).toEqual(["user", "assistant"]);
	}
	expect(session.messages).toHaveLength(54);
	expect(model.requests[0]?.messages).toHaveLength(51);
});

describe("an answer", () => {
	test("is emitted inside one message pair, block after block [API-004, API-005, API-006]", async () => {
		const { events, result } = await streamed(
			[
				thinks(0, "Hm"),
				thinks(0, ", so"),
				text(1, "One "),
				text(1, "two"),
				thinks(2, "And"),
				text(3, "three"),
			],
			whole([
				{ type: "reasoning", text: "Hm, so" },
				{ type: "text", text: "One two" },
				{ type: "reasoning", text: "And" },
				{ type: "text", text: "three" },
			]),
		);
		expect(faultsOf(events)).toEqual([]);
		expect(events.slice(3, -2)).toEqual([
			{ type: "message_start", role: "assistant" },
			{ type: "thinking_start" },
			{ type: "thinking_delta", delta: "Hm" },
			{ type: "thinking_delta", delta: ", so" },
			{ type: "thinking_end", thinking: "Hm, so" },
			{ type: "text_start" },
			{ type: "text_delta", delta: "One " },
			{ type: "text_delta", delta: "two" },
			{ type: "text_end", text: "One two" },
			{ type: "thinking_start" },
			{ type: "thinking_delta", delta: "And" },
			{ type: "thinking_end", thinking: "And" },
			{ type: "text_start" },
			{ type: "text_delta", delta: "three" },
			{ type: "text_end", text: "three" },
		]);
		expect(result.messages[1]).toMatchObject({
			content: [
				{ type: "thinking", thinking: "Hm, so" },
				{ type: "text", text: "One two" },
				{ type: "thinking", thinking: "And" },
				{ type: "text", text: "three" },
			],
		});
	});

	test("with interleaved blocks is emitted in blocks that do not overlap [API-005]", async () => {
		const { events } = await streamed(
			[text(0, "a"), thinks(1, "x"), text(0, "b"), text(2, "c"), text(0, "d")],
			whole([
				{ type: "text", text: "abd" },
				{ type: "reasoning", text: "x" },
				{ type: "text", text: "c" },
			]),
		);
		expect(faultsOf(events)).toEqual([]);
		expect(only(events, "text_delta").map(({ delta }) => delta)).toEqual(["a", "b", "c", "d"]);
		expect(only(events, "thinking_delta").map(({ delta }) => delta)).toEqual(["x"]);
	});

	test("with two adjacent texts is emitted as two texts [API-005]", async () => {
		const content = ["one", "two"].map((said) => ({ type: "text", text: said }) as const);
		const { events } = await streamed([text(0, "one"), text(1, "two")], whole(content));
		expect(faultsOf(events)).toEqual([]);
		expect(only(events, "text_end").map(({ text }) => text)).toEqual(["one", "two"]);
	});

	test("of a model that does not stream is emitted as a whole", async () => {
		const { events } = await streamed(
			[],
			whole(
				[
					{ type: "reasoning", text: "Hm" },
					{ type: "text", text: "So" },
				],
				[{ id: "a", arguments: { of: "x" } }],
			),
		);
		expect(faultsOf(events)).toEqual([]);
		expect(types(events).slice(3, -1)).toEqual([
			"message_start",
			"thinking_start",
			"thinking_delta",
			"thinking_end",
			"text_start",
			"text_delta",
			"text_end",
			"toolcall_start",
			"toolcall_delta",
			"toolcall_end",
			"message_end",
		]);
	});

	test("without content has no blocks", async () => {
		const { events } = await streamed([], whole([]));
		expect(types(events).slice(3)).toEqual(["message_start", "message_end", "session_end"]);
	});
});

describe("the tool calls of an answer", () => {
	test("are emitted by their position, even if their deltas interleave [API-007, API-008]", async () => {
		const { events } = await streamed(
			[
				text(0, "Both."),
				calls(0, "a", ""),
				calls(0, undefined, '{"of"'),
				calls(1, "b", '{"of":'),
				calls(0, "a", ':"one"'),
				calls(1, "b", '"two"}'),
				calls(0, "a", "}"),
			],
			whole(
				[{ type: "text", text: "Both." }],
				[
					{ id: "a", arguments: { of: "one" } },
					{ id: "b", arguments: { of: "two" } },
				],
			),
		);
		expect(faultsOf(events)).toEqual([]);
		const of = (index: number) =>
			events.filter((event) => "index" in event && event.index === index).map(({ type }) => type);
		expect(of(0)).toEqual([
			"toolcall_start",
			"toolcall_delta",
			"toolcall_delta",
			"toolcall_delta",
			"toolcall_end",
		]);
		expect(of(1)).toEqual(["toolcall_start", "toolcall_delta", "toolcall_delta", "toolcall_end"]);
		expect(only(events, "toolcall_end")).toEqual([
			{ type: "toolcall_end", index: 0, toolCall: { id: "a", name: "locate", arguments: { of: "one" } } },
			{ type: "toolcall_end", index: 1, toolCall: { id: "b", name: "locate", arguments: { of: "two" } } },
		]);
		const message = messagesIn(events)[1] as Extract<SessionMessage, { role: "assistant" }>;
		expect(message.content.filter(({ type }) => type === "toolCall")).toMatchObject([
			{ id: "a" },
			{ id: "b" },
		]);
	});

	test("are emitted by their position, regardless of which the model starts first [API-007]", async () => {
		const three = ["a", "b", "c"].map((id, at) => ({ id, arguments: { of: `${at}` } }));
		const { events } = await streamed(
			[
				calls(1, "b", '{"of"'),
				calls(2, "c", '{"of":"2"}'),
				calls(1, "b", ':"1'),
				calls(0, "a", '{"of":'),
				calls(1, "b", '"}'),
				calls(0, "a", '"0"}'),
			],
			whole([], three),
		);
		expect(faultsOf(events)).toEqual([]);
		expect(only(events, "toolcall_start").map(({ index, id }) => [index, id])).toEqual([
			[0, "a"],
			[1, "b"],
			[2, "c"],
		]);
		// Known parts of the calls are emitted as soon as their position is known.
		expect(only(events, "toolcall_delta").map(({ index, delta }) => [index, delta])).toEqual([
			[0, '{"of":'],
			[1, '{"of":"1'],
			[2, '{"of":"2"}'],
			[1, '"}'],
			[0, '"0"}'],
		]);
		expect(only(events, "toolcall_end").map(({ index, toolCall }) => [index, toolCall.id])).toEqual([
			[0, "a"],
			[1, "b"],
			[2, "c"],
		]);
	});

	test("that are numbered with the blocks of the answer are emitted in arrival order [API-007]", async () => {
		const { events } = await streamed(
			[text(0, "Both."), calls(1, "a", '{"of":"0"}'), calls(2, "b", '{"of":"1"}'), calls(9, "c", '{"of"')],
			whole(
				[{ type: "text", text: "Both." }],
				["a", "b", "c"].map((id, at) => ({ id, arguments: { of: `${at}` } })),
			),
		);
		expect(faultsOf(events)).toEqual([]);
		expect(only(events, "toolcall_delta").map(({ index, delta }) => [index, delta])).toEqual([
			[0, '{"of":"0"}'],
			[1, '{"of":"1"}'],
			[2, '{"of":"2"}'],
		]);
	});

	test("without arguments have {} [API-008]", async () => {
		const { events } = await streamed([calls(0, "a", ""), calls(0, "a", "")], whole([], [{ id: "a" }]));
		expect(faultsOf(events)).toEqual([]);
		expect(only(events, "toolcall_delta").map(({ delta }) => delta)).toEqual(["{}"]);
		expect(only(events, "toolcall_end")[0]?.toolCall.arguments).toEqual({});
	});

	test("keep their arguments if the whole answer has another order", async () => {
		const { events } = await streamed(
			[calls(0, "a", '{"of":"one"}'), calls(1, "b", '{"of":"two"}')],
			whole(
				[],
				[
					{ id: "b", arguments: { of: "two" } },
					{ id: "a", arguments: { of: "one" } },
				],
			),
		);
		expect(faultsOf(events)).toEqual([]);
	});

	test("with the same id twice stay two [API-007]", async () => {
		const { events } = await streamed(
			[calls(0, "a", '{"of":"one"}'), calls(1, "a", '{"of":"two"}')],
			whole(
				[],
				[
					{ id: "a", arguments: { of: "one" } },
					{ id: "a", arguments: { of: "two" } },
				],
			),
		);
		const ids = only(events, "toolcall_end").map(({ toolCall }) => toolCall.id);
		expect(faultsOf(events)).toEqual([]);
		expect(new Set(ids).size).toBe(2);
	});
});

describe("an assistant message", () => {
	const prices = { scripted: { input: 1, output: 10 } };
	test.each([
		["stop", { text: "all" }, "stop"],
		["length", { text: "all", stopReason: "length" }, "length"],
		["other", { text: "all", stopReason: "other" }, "stop"],
		["tool_calls", { toolCalls: [asks("a")] }, "tool_calls"],
		["length with calls", { toolCalls: [asks("a")], stopReason: "length" }, "tool_calls"],
	] as const)(
		"that ended by %s has its usage, cost and stop reason [API-009]",
		async (_, reply, stopReason) => {
			const usage = { inputTokens: 1_000, outputTokens: 100, totalTokens: 1_100, cacheReadTokens: 400 };
			const model = scriptedModel([{ ...reply, usage }]);
			const session = createSession("s", { tools: [locate] }, { model, prices });
			const events = await all(execute(session, says("go")));
			expect(messagesIn(events)[1]).toMatchObject({
				role: "assistant",
				model: "scripted",
				stopReason,
				usage: { ...usage, cost: (600 * 1 + 400 * 1 + 100 * 10) / 1_000_000 },
			});
		},
	);

	test("has no cost if no price is known", async () => {
		const session = createSession("s", {}, { model: scriptedModel(["all"]) });
		const { events, result } = await played(execute(session, says("go")));
		expect(messagesIn(events)[1]).toEqual(
			expect.objectContaining({ usage: { inputTokens: 10, outputTokens: 5, totalTokens: 15 } }),
		);
		expect(result.cost).toBe(0);
	});

	test("that was filtered ends as an error, and none of its calls runs [API-009]", async () => {
		const asked: unknown[] = [];
		const local = { ...locate, execute: async () => ({ output: String(asked.push(1)) }) };
		const model = scriptedModel([
			{ text: "I could ", toolCalls: [asks("a")], stopReason: "content_filter" },
			{ stopReason: "content_filter" },
			"Fine.",
		]);
		const session = createSession("s", { tools: [local] }, { model, prices });
		const { events, result } = await played(execute(session, says("Do it")));
		expect(messagesIn(events).map(({ role }) => role)).toEqual(["user", "error"]);
		expect(messagesIn(events)[1]).toMatchObject({
			code: "content_filtered",
			partial: { content: [{ type: "text", text: "I could " }], usage: { outputTokens: 5 } },
		});
		expect(types(events).slice(-3)).toEqual(["message_end", "error", "session_end"]);
		expect(events.at(-2)).toMatchObject({ code: "content_filtered", message: messagesIn(events)[1] });
		expect(result).toMatchObject({ status: "error", error: { code: "content_filtered" } });
		expect(result.cost).toBe(session.totalCost);
		expect(asked).toEqual([]);
		const empty = await played(execute(session, says("Do it all the same")));
		expect(messagesIn(empty.events)[1]).toMatchObject({ role: "error", code: "content_filtered" });
		expect((await execute(session, says("Then not")).result()).status).toBe("completed");
	});
});

test("deltas carry only the new fragment, also in a long answer [API-010]", async () => {
	const text = "lorem ipsum ".repeat(9_000);
	const session = createSession("s", {}, { model: scriptedModel([{ text, deltas: 5_000 }]) });
	const deltas = only(await all(execute(session, says("go"))), "text_delta");
	expect(deltas.map(({ delta }) => delta).join("")).toBe(text);
	expect(deltas.length).toBeGreaterThan(4_000);
	for (const event of deltas) expect(JSON.stringify(event).length).toBeLessThan(event.delta.length + 200);
});

test("no event carries the system prompt, the tools or earlier messages [API-011]", async () => {
	const messages = Array.from({ length: 1_000 }, () => says("x".repeat(1_000)));
	const tools = [{ ...locate, description: "secret tool ".repeat(1_000) }];
	const model = scriptedModel(["Short.", { toolCalls: [asks("a")] }]);
	const session = createSession(
		"s",
		{ messages, tools, systemPrompt: "secret prompt ".repeat(1_000) },
		{ model },
	);
	for (const question of ["one", "two"]) {
		const events = await all(execute(session, says(question)));
		const size = events.reduce((sum, event) => sum + JSON.stringify(event).length, 0);
		expect(size).toBeLessThan(10_000);
		expect(JSON.stringify(events)).not.toContain("secret");
	}
	expect(JSON.stringify(model.requests[0]?.messages).length).toBeGreaterThan(1_000_000);
});

test("every event is plain JSON for any tools, details and messages [API-012]", async () => {
	const odd = {
		name: "odd",
		description: "Gives odd things.",
		parameters: { type: "object" },
		async *execute() {
			yield { type: "delta", delta: "\u2028 \ud83d\ude00" };
			yield {
				type: "complete",
				output: {
					when: new Date(0),
					big: 2n ** 70n,
					nothing: undefined,
					list: [undefined, new Map([["a", 1]])],
				},
				details: { when: new Date(0), nothing: undefined, made: new (class Made {})() },
			};
		},
	};
	const model = scriptedModel([
		{
			reasoning: "Hm",
			text: "So",
			toolCalls: [{ name: "odd", id: "o", arguments: { a: [null, 1, "x"] } }, asks("a")],
		},
		{ text: "and", error: new Error("broken") },
	]);
	const session = createSession("s", { tools: [odd, locate] }, { model });
	const image = { type: "image", image: "aGk=", mediaType: "image/png" } as const;
	const file = { type: "file", data: "aGk=", mediaType: "text/plain", filename: "a.txt" } as const;
	const content = [{ type: "text", text: "see" } as const, image, file];
	const first = await all(execute(session, { role: "user", content }));
	const second = await all(execute(session, [{ ...toolResult("a", { x: 1 }), details: { y: 1 } }]));
	const seen = [...first, ...second];
	expect(faultsOf(first)).toEqual([]);
	expect(faultsOf(second)).toEqual([]);
	for (const event of seen) expect(JSON.parse(JSON.stringify(event))).toStrictEqual(event);
	expect(new Set(types(seen)).size).toBe(19);
	expect(messagesIn(first)[0]).toMatchObject({ content });
	expect(JSON.parse((messagesIn(first)[2] as { output: string }).output)).toEqual({
		when: "1970-01-01T00:00:00.000Z",
		big: String(2n ** 70n),
		list: [null, { a: 1 }],
	});
});
