// Connections that break, servers that restart: the consumer sees every event once, in order, or learns why not.
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createClient } from "./client.ts";
import type { Reply } from "./fixtures/agent.fixture.ts";
import { type FakeServer, type Fault, startFakeServer } from "./fixtures/server.fixture.ts";
import { type TestTimers, testTimers } from "./fixtures/timers.fixture.ts";
import type { ClientOptions, ReconnectNotice } from "./transport/options.ts";
import type { LoggedEvent } from "./wire/events.ts";

const text = "Ein 漢字 🚲 und noch mehr davon.";
let server: FakeServer;
let replies: Reply[];
let timers: TestTimers;

beforeEach(async () => {
	replies = [];
	timers = testTimers();
	server = await startFakeServer(() => replies.shift() ?? { text });
});
afterEach(() => server.close());

const client = (options: Partial<ClientOptions> = {}) =>
	createClient({ url: server.url, timers, idleTimeoutMs: Number.POSITIVE_INFINITY, ...options });

const logOf = (sessionId = "session-1") => server.sessions.get(sessionId)?.log;

async function eventsOf<T>(stream: AsyncIterable<T>): Promise<readonly T[]> {
	const events: T[] = [];
	for await (const event of stream) events.push(event);
	return events;
}

const path = ({ method, path }: { method: string; path: string }) => `${method} ${path}`;

test("a stream cut in the middle of a record continues after the last whole one [API-090]", async () => {
	server.faults.push({ cutAfter: 400 });
	const events = await eventsOf(client().execute({ input: "Hi" }));
	expect(events).toEqual(logOf()?.map(({ event }) => event));
	expect(server.requests.map(path)).toEqual([
		"POST /api/agent/execute",
		"GET /api/agent/session/session-1/events",
	]);
	const seen = server.requests[1]?.headers["last-event-id"];
	expect(seen).toMatch(/^\d+\.0\.7$/);
	expect(timers.waits).toEqual([500]);
});

test("wherever and however often a stream is cut, each event comes once, in order [API-090]", async () => {
	const fault = fc.oneof(
		{ weight: 4, arbitrary: fc.record({ cutAfter: fc.nat({ max: 1200 }) }) },
		{ weight: 1, arbitrary: fc.record({ endAfter: fc.nat({ max: 1200 }) }) },
		{ weight: 1, arbitrary: fc.constantFrom<Fault>("lose-request", "lose-answer", { status: 503 }) },
	);
	let count = 0;
	await fc.assert(
		fc.asyncProperty(fc.array(fault, { maxLength: 6 }), async (faults) => {
			server.faults.splice(0, Number.POSITIVE_INFINITY, ...faults);
			const sessionId = `cut-${++count}`;
			const stream = client().execute({ sessionId, context: {}, input: "Hi" });
			const events = await eventsOf(stream);
			expect(events).toEqual(logOf(sessionId)?.map(({ event }) => event));
			expect((await stream.result()).messages).toEqual(server.sessions.get(sessionId)?.messages);
		}),
		{ numRuns: 100 },
	);
});

test("a lost request or answer is repeated with its key and starts one execution [API-090]", async () => {
	server.faults.push("lose-request", "lose-answer", { cutAfter: 0 });
	const { messages } = await client().execute({ input: "Hi" }).result();
	expect(messages.map(({ role }) => role)).toEqual(["user", "assistant"]);
	expect(server.sessions.size).toBe(1);
	const keys = server.requests.map(({ headers }) => headers["idempotency-key"]);
	expect(keys).toHaveLength(3);
	expect(new Set(keys).size).toBe(1);
});

test("a session whose data cannot be read is not requested again", async () => {
	for (const code of ["journal_corrupt", "journal_newer"]) {
		server.faults.push({ status: 500, body: { error: "The stored data cannot be read.", code } });
		await expect(eventsOf(client().watch("s"))).rejects.toMatchObject({
			code,
			status: 500,
			retryable: false,
		});
	}
	expect(server.requests).toHaveLength(2);
	expect(timers.waits).toEqual([]);
});

test("a restart of the server in the middle of a message is a pause", async () => {
	const { promise: restarted, resolve: resume } = Promise.withResolvers<void>();
	replies = [{ text, until: restarted }];
	const events: unknown[] = [];
	for await (const event of client().execute({ input: "Hi" })) {
		events.push(event);
		if (event.type !== "text_start") continue;
		await server.restart();
		resume();
	}
	expect(events).toEqual(logOf()?.map(({ event }) => event));
});

test("waits double up to a limit, half of each is random, and a success resets them", async () => {
	const failing: Fault[] = Array<Fault>(5).fill({ status: 500 });
	server.faults.push(...failing, { cutAfter: 400 });
	const notices: ReconnectNotice[] = [];
	const patient = client({ maxReconnectDelayMs: 3000, onReconnect: (notice) => notices.push(notice) });
	await patient.execute({ input: "Hi" }).result();
	expect(timers.waits).toEqual([500, 1000, 2000, 3000, 3000, 500]);
	expect(notices.map(({ attempt }) => attempt)).toEqual([1, 2, 3, 4, 5, 1]);
	expect(notices.map(({ error }) => error.code)).toEqual([
		...Array(5).fill("request_failed"),
		"connection_lost",
	]);
	timers = testTimers(0);
	server.faults.push(...failing);
	await client().execute({ input: "Hi" }).result();
	expect(timers.waits).toEqual([250, 500, 1000, 2000, 4000]);
});

test.each([
	["seconds", "7", 7000],
	["a date", new Date(1_009_000).toUTCString(), 9000],
	["less than the own wait", "0", 500],
])("Retry-After in %s is respected", async (_, value, wait) => {
	server.faults.push({
		status: 429,
		body: { code: "rate_limited", error: "Slow." },
		headers: { "retry-after": value },
	});
	await client().execute({ input: "Hi" }).result();
	expect(timers.waits).toEqual([wait]);
});

test("too many failures in a row end the stream with the last of them", async () => {
	const down = { status: 503, body: { code: "shutting_down", error: "Going down." } };
	server.faults.push(down, down, down);
	const stream = client({ maxReconnects: 2 }).execute({ input: "Hi" });
	await expect(stream.result()).rejects.toMatchObject({
		code: "shutting_down",
		status: 503,
		retryable: true,
	});
	await expect(eventsOf(stream)).rejects.toMatchObject({ code: "shutting_down" });
	await expect(stream.sessionId).rejects.toMatchObject({ code: "shutting_down" });
	expect(server.requests).toHaveLength(3);
});

test("a malformed address is reported at once, without waiting for a server", async () => {
	for (const url of ["127.0.0.1:4280", "localhost:4280", "agents.example.com/api"])
		expect(() => createClient({ url })).toThrow(
			expect.objectContaining({
				code: "invalid_option",
				message: expect.stringContaining(`"http://${url}"`),
			}),
		);
	for (const url of ["", "/agents"]) {
		const page = client({ url });
		await expect(page.session("s")).rejects.toMatchObject({ retryable: false });
		await expect(page.execute({ input: "Hi" }).result()).rejects.toMatchObject({ code: "connection_failed" });
	}
	expect(timers.waits).toEqual([]);
});

test("an address without a server is reported after the last try", async () => {
	await server.close();
	const lonely = client({ maxReconnects: 1 }).execute({ input: "Hi" });
	await expect(lonely.result()).rejects.toMatchObject({
		code: "connection_failed",
		message: expect.stringContaining(server.url),
		retryable: true,
	});
	expect(timers.waits).toEqual([500]);
	await server.restart();
});

test("a server that never answered is reported within five seconds, and one that answered before is waited for", async () => {
	await server.close();
	await expect(client().execute({ input: "Hi" }).result()).rejects.toMatchObject({
		code: "connection_failed",
	});
	expect(timers.waits).toEqual([500, 1_000, 2_000]);
	await server.restart();
	const known = client();
	await known.execute({ input: "Hi" }).result();
	await server.close();
	await expect(known.execute({ input: "Hi" }).result()).rejects.toMatchObject({ code: "connection_failed" });
	expect(timers.waits).toHaveLength(3 + 10);
	await server.restart();
});

test("a silent connection is considered dead after the idle time", async () => {
	timers.hold(60_000);
	server.faults.push("fall-silent");
	const stream = client({ idleTimeoutMs: 60_000, onReconnect: () => {} }).execute({ input: "Hi" });
	const events = eventsOf(stream);
	expect(await stream.sessionId).toBe("session-1");
	await expect.poll(() => server.openStreams()).toBe(1);
	expect(server.requests).toHaveLength(1);
	timers.release();
	expect(await events).toEqual(logOf()?.map(({ event }) => event));
	expect(server.requests).toHaveLength(2);
});

test("a request without an answer is abandoned and sent again", async () => {
	timers.hold(60_000);
	const signals: (AbortSignal | null | undefined)[] = [];
	const stream = client({
		idleTimeoutMs: 60_000,
		fetch: (url, init) => {
			signals.push(init.signal);
			return signals.length === 1 ? new Promise(() => {}) : fetch(url, init);
		},
	}).execute({ input: "Hi" });
	await expect.poll(() => signals).toHaveLength(1);
	timers.release();
	expect((await stream.result()).status).toBe("completed");
	expect(signals[0]?.aborted).toBe(true);
});

test("calls that are safe to repeat are repeated", async () => {
	await client().execute({ input: "Hi" }).result();
	server.faults.push("lose-request", { status: 502 });
	expect(await client().session("session-1")).toMatchObject({ status: "completed" });
	server.faults.push("lose-request");
	expect(await client().stop("session-1")).toEqual({ stopped: false });
});

describe("watch", () => {
	beforeEach(async () => {
		await client().execute({ sessionId: "s", context: {}, input: "Hi" }).result();
		await client().execute({ sessionId: "s", input: "Again" }).result();
	});

	test("shows all past events, each with its id, and ends with the last execution", async () => {
		expect(await eventsOf(client().watch("s"))).toEqual(logOf("s"));
	});

	test("starts after a known event, also after the last one", async () => {
		const log = logOf("s") ?? [];
		expect(await eventsOf(client().watch("s", { after: log[4]?.id ?? "" }))).toEqual(log.slice(5));
		expect(await eventsOf(client().watch("s", { after: log.at(-1)?.id ?? "" }))).toEqual([]);
		expect(timers.waits).toEqual([]);
	});

	test("handles connections that break or end too early", async () => {
		server.faults.push({ cutAfter: 300 }, { endAfter: 500 }, "lose-request", { endAfter: 0 });
		expect(await eventsOf(client().watch("s"))).toEqual(logOf("s"));
	});

	test("ends if nothing is stored", async () => {
		server.sessions.get("s")?.log.splice(0);
		expect(await eventsOf(client().watch("s"))).toEqual([]);
	});

	test("follows further executions across every reconnect until it is left", async () => {
		server.faults.push({ cutAfter: 300 });
		const seen: LoggedEvent[] = [];
		for await (const logged of client().watch("s", { follow: true })) {
			seen.push(logged);
			if (logged.event.type !== "execute_complete") continue;
			const ends = seen.filter(({ event }) => event.type === "execute_complete").length;
			if (ends === 2) {
				server.faults.push({ cutAfter: 100 });
				await server.restart();
				void client().execute({ sessionId: "s", input: "Once more" }).result();
			}
			if (ends === 3) break;
		}
		expect(seen).toEqual(logOf("s"));
		await expect.poll(() => server.openStreams()).toBe(0);
	});

	test.each([
		["held for long is no failure", 30_000, undefined],
		["never holds is one", 29_999, "connection_lost"],
	])("a quiet connection that %s", async (_, heldFor, failure) => {
		let opened = 0;
		const quiet = client({
			maxReconnects: 2,
			fetch: async () => {
				opened += 1;
				const body = opened < 6 ? ": ping\n\n" : 'id: 1.0.0\ndata: {"type":"text_start"}\n\n';
				const stream = new ReadableStream<Uint8Array>(
					{
						pull(controller) {
							timers.pass(heldFor);
							controller.enqueue(new TextEncoder().encode(body));
							controller.close();
						},
					},
					{ highWaterMark: 0 },
				);
				return new Response(stream, { headers: { "content-type": "text/event-stream" } });
			},
		});
		const first = quiet.watch("s", { follow: true })[Symbol.asyncIterator]().next();
		const outcome = await first.then(({ value }) => value?.event.type).catch(({ code }) => code);
		expect(outcome).toBe(failure ?? "text_start");
	});

	test("removed events are an error that explains what to do", async () => {
		const session = server.sessions.get("s");
		if (session !== undefined) session.expired = 10;
		const error = await eventsOf(client().watch("s", { after: "2.0.7" })).catch((thrown) => thrown);
		expect(error).toMatchObject({ code: "events_expired", status: 410, retryable: false });
		expect(error.message).toContain("client.session(id)");
	});

	test("an unknown session is an error", async () => {
		await expect(eventsOf(client().watch("nobody"))).rejects.toMatchObject({ code: "session_not_found" });
	});
});
