import { setImmediate } from "node:timers/promises";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { batchLines, readLines } from "./lines.ts";

beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] }));
afterEach(() => void vi.useRealTimers());

/** Creates lines of batches that the test sends. */
function lines() {
	const given = new TransformStream<number>(undefined, { highWaterMark: 9 }, { highWaterMark: 9 });
	const leaving = new AbortController();
	const over = vi.fn();
	const stream = batchLines(given.readable, { leaving, over, silenceMs: 10, patienceMs: 40 });
	const writer = given.writable.getWriter();
	return { stream, over, leaving, give: (batch: number) => writer.write(batch), end: () => writer.close() };
}

async function pass(milliseconds: number): Promise<void> {
	for (let ms = 0; ms < milliseconds; ms++) {
		await vi.advanceTimersByTimeAsync(1);
		await setImmediate();
	}
}

test("a reader who waits silently stays, and gets only batches", async () => {
	const { stream, give, end, over } = lines();
	const read: number[] = [];
	const reading = (async () => {
		for await (const batch of readLines<number>(stream)) read.push(batch);
	})();
	await pass(100);
	expect(over).not.toHaveBeenCalled();
	await give(1);
	await pass(100);
	await give(2);
	await end();
	await reading;
	expect(read).toEqual([1, 2]);
	expect(over).toHaveBeenCalledOnce();
});

test("a reader who does not read counts as gone, even without a disconnect", async () => {
	const { stream, give, over, leaving } = lines();
	const reader = stream.getReader();
	await give(1);
	await reader.read();
	await pass(45);
	expect([over.mock.calls.length, leaving.signal.aborted]).toEqual([0, false]);
	await pass(10);
	expect([over.mock.calls.length, leaving.signal.aborted]).toEqual([1, true]);
	await expect(reader.read()).rejects.toThrow("left");
});
