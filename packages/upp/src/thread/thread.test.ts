import { describe, expect, test } from "vitest";
import { AssistantMessage, UserMessage } from "../messages/index.ts";
import { createTurn, emptyUsage, sumUsage } from "../turn/index.ts";
import { Thread } from "./thread.ts";

describe("a thread", () => {
	test("grows by messages, texts and turns, and can be read in parts", () => {
		const thread = new Thread([new UserMessage("one")]);
		const response = new AssistantMessage("four");
		const turn = createTurn({
			messages: [new UserMessage("three"), response],
			usage: emptyUsage(),
			cycles: 1,
		});
		expect(turn.response).toBe(response);
		thread.assistant("two").append(turn).user("five");
		expect([...thread].map(({ text }) => text)).toEqual(["one", "two", "three", "four", "five"]);
		expect(thread.tail(2).map(({ text }) => text)).toEqual(["four", "five"]);
		expect(thread.tail(0)).toEqual([]);
		expect(thread.slice(1, 2).map(({ text }) => text)).toEqual(["two"]);
		expect(thread.filter("assistant")).toHaveLength(2);
		expect(thread.toMessages()).toEqual(thread.messages);
		expect(thread.clear()).toHaveLength(0);
	});

	test("is read back from JSON unchanged", () => {
		const thread = new Thread([], { id: "t1", createdAt: new Date(1000) }).user("hello").assistant("there");
		const back = Thread.fromJSON(JSON.parse(JSON.stringify(thread)));
		expect(back.messages).toEqual(thread.messages);
		expect(back.toJSON()).toEqual(thread.toJSON());
		expect(back.toJSON()).toMatchObject({ id: "t1", createdAt: "1970-01-01T00:00:01.000Z" });
	});

	test("cannot be created from other JSON", () => {
		const good = new Thread().toJSON();
		for (const bad of [
			null,
			{},
			{ ...good, messages: 1 },
			{ ...good, createdAt: "x" },
			{ ...good, messages: [1] },
		]) {
			expect(() => Thread.fromJSON(bad as never)).toThrow(
				expect.objectContaining({ code: "invalid_message" }),
			);
		}
	});
});

test("usages add up, and cache tokens where they are known", () => {
	const usage = { inputTokens: 1, outputTokens: 2, totalTokens: 3 };
	expect(sumUsage(usage, usage)).toEqual({ inputTokens: 2, outputTokens: 4, totalTokens: 6 });
	expect(sumUsage(emptyUsage(), { ...usage, cacheReadTokens: 1 })).toEqual({ ...usage, cacheReadTokens: 1 });
});

test("a turn needs an answer", () => {
	expect(() => createTurn({ messages: [new UserMessage("x")], usage: emptyUsage(), cycles: 0 })).toThrow(
		expect.objectContaining({ code: "invalid_message" }),
	);
});
