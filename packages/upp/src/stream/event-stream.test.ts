import { describe, expect, test } from "vitest";
import { EventStream } from "./event-stream.ts";
import type { StreamEvent } from "./stream-event.ts";

function textDelta(text: string): StreamEvent {
	return { type: "text_delta", index: 0, delta: { text } };
}

async function texts(stream: AsyncIterable<StreamEvent>): Promise<string[]> {
	const all: string[] = [];
	for await (const event of stream) all.push(event.delta.text ?? event.type);
	return all;
}

describe("a stream of events", () => {
	test("emits all events in order, including those from before the first read", async () => {
		const gate = Promise.withResolvers<void>();
		const stream = new EventStream(async (target) => {
			target.push(textDelta("a"));
			target.push(textDelta("b"));
			await gate.promise;
			target.push(textDelta("c"));
			return "done";
		});
		await Promise.resolve();
		const read = texts(stream);
		gate.resolve();
		expect(await read).toEqual(["a", "b", "c"]);
		expect(await stream.result).toBe("done");
	});

	test("settles its result if no one reads, and joins unread events beyond the limit", async () => {
		const stream = new EventStream(async (target) => {
			for (let index = 0; index < 100_000; index++) target.push(textDelta("x"));
			target.push({ type: "message_stop", index: 0, delta: {} });
			return 1;
		});
		expect(await stream.result).toBe(1);
		const all = await texts(stream);
		expect(all.length).toBeLessThan(1100);
		expect(all.join("")).toBe(`${"x".repeat(100_000)}message_stop`);
	});

	test("fails for the reader after the last event, and for those who await the result", async () => {
		const error = new Error("broken");
		const stream = new EventStream(async (target) => {
			target.push(textDelta("a"));
			throw error;
		});
		expect(await stream.next()).toEqual({ done: false, value: textDelta("a") });
		await expect(stream.next()).rejects.toBe(error);
		expect(await stream.next()).toEqual({ done: true, value: undefined });
		await expect(stream.result).rejects.toBe(error);
	});

	test("fails a reader that already waits", async () => {
		const stream = new EventStream(async () => {
			throw new Error("broken");
		});
		await expect(stream.next()).rejects.toThrow("broken");
	});

	test("continues to its result when the reader leaves", async () => {
		const gate = Promise.withResolvers<void>();
		const stream = new EventStream(async (target) => {
			target.push(textDelta("a"));
			await gate.promise;
			target.push(textDelta("b"));
			return "done";
		});
		for await (const _ of stream) break;
		gate.resolve();
		expect(await stream.result).toBe("done");
		expect(await stream.next()).toEqual({ done: true, value: undefined });
	});

	test("resolves several pending reads in order", async () => {
		const stream = new EventStream(async (target) => {
			await Promise.resolve();
			target.push(textDelta("a"));
			target.push(textDelta("b"));
		});
		const reads = await Promise.all([stream.next(), stream.next(), stream.next()]);
		expect(reads.map(({ value }) => value?.delta.text)).toEqual(["a", "b", undefined]);
	});
});
