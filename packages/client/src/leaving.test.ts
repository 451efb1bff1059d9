// Slow loops, loops that are left, and streams that are aborted: nothing grows, nothing hangs, and the session continues.
import { afterEach, beforeEach, expect, test } from "vitest";
import { createClient } from "./client.ts";
import type { Reply } from "./fixtures/agent.fixture.ts";
import { type FakeServer, startFakeServer } from "./fixtures/server.fixture.ts";
import { testTimers } from "./fixtures/timers.fixture.ts";
import type { ClientOptions } from "./transport/options.ts";

let server: FakeServer;
let replies: Reply[];

beforeEach(async () => {
	replies = [];
	server = await startFakeServer(() => replies.shift() ?? { text: "One two three four five six seven." });
});
afterEach(() => server.close());

const client = (options: Partial<ClientOptions> = {}) =>
	createClient({
		url: server.url,
		timers: testTimers(),
		idleTimeoutMs: Number.POSITIVE_INFINITY,
		...options,
	});

const log = () => server.sessions.get("session-1")?.log.map(({ event }) => event);

test("a loop that pauses applies backpressure to the server instead of filling the memory", async () => {
	const word = `${"x".repeat(100_000)} `;
	const total = 200;
	replies = [{ text: word.repeat(total) }];
	const stream = client().execute({ input: "Hi" });
	let deltas = 0;
	for await (const { type } of stream) {
		if (type !== "text_delta") continue;
		deltas += 1;
		if (deltas !== 1) continue;
		await expect.poll(() => server.sent.isHeldUp).toBe(true);
		// What fits into the sockets' own buffers, of more than 60 MB.
		expect(server.sent.bytes).toBeLessThan(15_000_000);
	}
	expect(deltas).toBe(total);
});

test("without a reader, nothing is read ahead", async () => {
	replies = [{ text: `${"x".repeat(100_000)} `.repeat(200) }];
	const stream = client().execute({ input: "Hi" });
	await expect.poll(() => server.sent.isHeldUp).toBe(true);
	expect(server.sent.bytes).toBeLessThan(15_000_000);
	expect((await stream.result()).status).toBe("completed");
});

test("leaving the loop disconnects, the session continues, and the result is still available", async () => {
	const { promise: later, resolve: resume } = Promise.withResolvers<void>();
	replies = [{ text: "One two three.", until: later }];
	const stream = client().execute({ input: "Hi" });
	for await (const { type } of stream) if (type === "text_delta") break;
	await expect.poll(() => server.openStreams()).toBe(0);
	resume();
	await expect.poll(() => server.sessions.get("session-1")?.status).toBe("completed");
	expect((await stream.result()).messages).toEqual(server.sessions.get("session-1")?.messages);
});

test("a loop that is left before its first event keeps no connection", async () => {
	const loop = client().execute({ input: "Hi" })[Symbol.asyncIterator]();
	await loop.return?.();
	expect(await loop.next()).toEqual({ done: true, value: undefined });
	await expect.poll(() => server.sessions.get("session-1")?.status).toBe("completed");
	await expect.poll(() => server.openStreams()).toBe(0);
});

test("awaiting the result before the loop is left keeps the connection", async () => {
	const stream = client().execute({ input: "Hi" });
	const result = stream.result();
	for await (const { type } of stream) if (type === "text_delta") break;
	expect((await result).status).toBe("completed");
	expect(server.requests).toHaveLength(1);
});

test.each([0, 150, 400, 1_000_000])(
	"the result can be awaited inside the loop, which still sees every event once, keeping %i characters",
	async (bufferCharacters) => {
		const stream = client({ bufferCharacters }).execute({ input: "Hi" });
		const events: unknown[] = [];
		const statuses: string[] = [];
		for await (const event of stream) {
			events.push(event);
			if (event.type === "text_start") statuses.push((await stream.result()).status);
		}
		expect(events).toEqual(log());
		expect(statuses).toEqual(["completed"]);
		await expect.poll(() => server.openStreams()).toBe(0);
	},
);

test("a loop that starts after the result sees every event", async () => {
	const stream = client({ bufferCharacters: 300 }).execute({ input: "Hi" });
	await stream.result();
	const events: unknown[] = [];
	for await (const event of stream) events.push(event);
	expect(events).toEqual(log());
});

test("aborting disconnects and ends loop and result; the session continues", async () => {
	const { promise: later, resolve: resume } = Promise.withResolvers<void>();
	replies = [{ text: "One two three.", until: later }];
	const controller = new AbortController();
	const stream = client().execute({ input: "Hi", signal: controller.signal });
	const reading = (async () => {
		for await (const { type } of stream) if (type === "text_delta") controller.abort(new Error("enough"));
	})();
	await expect(reading).rejects.toThrow("enough");
	await expect(stream.result()).rejects.toThrow("enough");
	await expect.poll(() => server.openStreams()).toBe(0);
	resume();
	await expect.poll(() => server.sessions.get("session-1")?.status).toBe("completed");
	expect(server.requests).toHaveLength(1);
});

test("aborting ends the wait before a retry", async () => {
	const controller = new AbortController();
	server.faults.push({ status: 503 });
	const timers = testTimers();
	timers.hold(500);
	const waiting = client({
		timers,
		onReconnect: () => queueMicrotask(() => controller.abort(new Error("enough"))),
	});
	await expect(waiting.execute({ input: "Hi", signal: controller.signal }).result()).rejects.toThrow(
		"enough",
	);
});

test("work that is aborted before its start sends nothing", async () => {
	const stream = client().execute({ input: "Hi", signal: AbortSignal.abort(new Error("enough")) });
	await expect(stream.result()).rejects.toThrow("enough");
	expect(server.requests).toEqual([]);
});

test("a watcher's signal ends its wait for events", async () => {
	await client().execute({ input: "Hi" }).result();
	const controller = new AbortController();
	const watching = (async () => {
		for await (const { event } of client().watch("session-1", { follow: true, signal: controller.signal })) {
			if (event.type === "execute_complete") controller.abort(new Error("enough"));
		}
	})();
	await expect(watching).rejects.toThrow("enough");
});
