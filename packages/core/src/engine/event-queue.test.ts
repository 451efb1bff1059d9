import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { joinStreamEvents } from "../facts/join-stream-events.ts";
import { EventQueue } from "./event-queue.ts";

type Item = { readonly kind: string; readonly text: string };

const joining = {
	limit: 4,
	join: (last: Item, next: Item): Item | undefined =>
		last.kind === next.kind ? { kind: last.kind, text: last.text + next.text } : undefined,
};

const textOf = (items: readonly Item[], kind: string): string =>
	items.flatMap((item) => (item.kind === kind ? [item.text] : [])).join("");

describe("a queue between one producer and one consumer", () => {
	test("delivers everything in order, joined or not, however reads and writes interleave", async () => {
		const actions = fc.array(
			fc.oneof(
				fc.record({ kind: fc.constantFrom("a", "b"), text: fc.string({ minLength: 1, maxLength: 2 }) }),
				fc.constant("read" as const),
			),
			{ maxLength: 60 },
		);
		await fc.assert(
			fc.asyncProperty(actions, async (list) => {
				const queue = new EventQueue<Item>(joining);
				const given: Item[] = [];
				const reads: Promise<IteratorResult<Item>>[] = [];
				for (const action of list) {
					if (action === "read") reads.push(queue.next());
					else {
						given.push(action);
						queue.push(action);
					}
				}
				queue.end();
				const read = (await Promise.all(reads)).flatMap((result) =>
					result.done === true ? [] : [result.value],
				);
				for await (const item of queue) read.push(item);
				const order = (items: readonly Item[]): string =>
					items.map(({ kind, text }) => [...text].map((character) => kind + character).join("")).join("");
				expect(order(read)).toBe(order(given));
				expect(textOf(read, "a")).toBe(textOf(given, "a"));
			}),
			{ numRuns: 300 },
		);
	});

	test("keeps no more joinable events than its limit", async () => {
		const queue = new EventQueue<Item>(joining);
		for (let at = 0; at < 1_000; at++) queue.push({ kind: "a", text: "x" });
		queue.end();
		const items: Item[] = [];
		for await (const item of queue) items.push(item);
		expect(items).toHaveLength(4);
		expect(textOf(items, "a")).toBe("x".repeat(1_000));
	});

	test("resolves several pending reads in order, also when it ends or fails", async () => {
		const queue = new EventQueue<number>();
		const reads = [queue.next(), queue.next(), queue.next(), queue.next()];
		queue.push(1);
		queue.push(2);
		const error = new Error("down");
		queue.end({ error });
		const outcomes = await Promise.allSettled(reads);
		expect(outcomes).toEqual([
			{ status: "fulfilled", value: { value: 1, done: false } },
			{ status: "fulfilled", value: { value: 2, done: false } },
			{ status: "rejected", reason: error },
			{ status: "fulfilled", value: { value: undefined, done: true } },
		]);
	});

	test("throws its error once, after the last item, and then ends", async () => {
		const queue = new EventQueue<number>();
		const error = new Error("down");
		queue.push(1);
		queue.end({ error });
		queue.push(2);
		queue.end();
		expect(await queue.next()).toEqual({ value: 1, done: false });
		await expect(queue.next()).rejects.toBe(error);
		expect(await queue.next()).toEqual({ value: undefined, done: true });
	});

	test("drops events after the consumer left, and settles pending writers", async () => {
		const queue = new EventQueue<number>();
		const waiting = queue.next();
		await queue.return();
		queue.push(1);
		expect(await waiting).toEqual({ value: undefined, done: true });
		expect(await queue.next()).toEqual({ value: undefined, done: true });
	});
});

describe("joining stream events", () => {
	const text = (value: string, index = 0) => ({ type: "text_delta", index, delta: { text: value } }) as const;
	const call = (toolCallId: string | undefined, argumentsJson: string) =>
		({
			type: "tool_call_delta",
			index: 1,
			delta: { ...(toolCallId && { toolCallId }), argumentsJson },
		}) as const;

	test("joins only neighbours of one block", () => {
		expect(joinStreamEvents(text("a"), text("b"))).toEqual(text("ab"));
		expect(joinStreamEvents(text("a", 0), text("b", 1))).toBeUndefined();
		expect(joinStreamEvents(text("a"), { ...text("b"), type: "reasoning_delta" })).toBeUndefined();
		expect(joinStreamEvents(call("c1", '{"a'), call(undefined, '":1}'))).toEqual(call("c1", '{"a":1}'));
		expect(joinStreamEvents(call("c1", "{}"), call("c2", "{}"))).toBeUndefined();
		const start = { type: "content_block_start", index: 0, delta: {} } as const;
		expect(joinStreamEvents(start, start)).toBeUndefined();
	});

	test("starts a new event when one is long", () => {
		const long = text("x".repeat(20_000));
		expect(joinStreamEvents(long, text("b"))).toBeUndefined();
		expect(joinStreamEvents(text("b"), long)?.delta.text).toHaveLength(20_001);
	});
});

test("an error is thrown once: to the first pending read, and the other reads end", async () => {
	const waiting = new EventQueue<Item>();
	const reads = [waiting.next(), waiting.next()];
	waiting.end({ error: new Error("broken") });
	await expect(reads[0]).rejects.toThrow("broken");
	expect([await reads[1], await waiting.next()]).toEqual([
		{ value: undefined, done: true },
		{ value: undefined, done: true },
	]);
	const idle = new EventQueue<Item>();
	idle.end({ error: new Error("broken") });
	await expect(idle.next()).rejects.toThrow("broken");
	expect((await idle.next()).done).toBe(true);
});
