// Executions and calls as a program sees them, over real connections to a small server.
import { afterEach, beforeEach, expect, test } from "vitest";
import { createClient } from "./client.ts";
import { isClientError } from "./errors/client-error.ts";
import type { ExecuteStream } from "./execute/execute-stream.ts";
import type { Reply } from "./fixtures/agent.fixture.ts";
import { type FakeServer, startFakeServer } from "./fixtures/server.fixture.ts";
import { testTimers } from "./fixtures/timers.fixture.ts";
import type { ClientOptions } from "./transport/options.ts";

let server: FakeServer;
let replies: Reply[];

beforeEach(async () => {
	replies = [];
	server = await startFakeServer(() => replies.shift() ?? { text: "Hello there, dear friend.", cost: 0.5 });
});
afterEach(() => server.close());

const client = (options: Partial<ClientOptions> = {}) =>
	createClient({
		url: server.url,
		timers: testTimers(),
		idleTimeoutMs: Number.POSITIVE_INFINITY,
		...options,
	});

async function typesOf(stream: ExecuteStream): Promise<readonly string[]> {
	const types: string[] = [];
	for await (const { type } of stream) types.push(type);
	return types;
}

test("an execution shows its events and ends with a result", async () => {
	const stream = client().execute({ input: "Hi" });
	expect(await typesOf(stream)).toEqual([
		"session_start",
		"message_start",
		"message_end",
		"message_start",
		"text_start",
		...Array<string>(4).fill("text_delta"),
		"text_end",
		"message_end",
		"session_end",
		"execute_complete",
	]);
	expect(await stream.result()).toEqual({
		sessionId: "session-1",
		status: "completed",
		messages: server.sessions.get("session-1")?.messages,
		cost: 0.5,
	});
	expect(await stream.sessionId).toBe("session-1");
	expect(stream.lastEventId).toBe(server.sessions.get("session-1")?.log.at(-1)?.id);
	expect(server.requests[0]?.body).toEqual({ input: { role: "user", content: "Hi" }, context: {} });
});

test("the result needs no loop, is the same each time, and a session continues without a context", async () => {
	const first = client().execute({ input: "Hi" });
	const result = await first.result();
	expect(await first.result()).toBe(result);
	const { messages } = await client().execute({ sessionId: result.sessionId, input: "Again" }).result();
	expect(messages).toHaveLength(2);
	expect(server.requests[1]?.body).toEqual({
		sessionId: "session-1",
		input: { role: "user", content: "Again" },
	});
});

test("an unknown price is not shown as zero", async () => {
	replies = [{ text: "Free?" }];
	expect(await client().execute({ input: "Hi" }).result()).not.toHaveProperty("cost");
});

test("a failure of the agent is a result, not a rejection", async () => {
	replies = [{ error: { code: "model_failed", error: "The model failed." } }];
	expect(await client().execute({ input: "Hi" }).result()).toMatchObject({
		status: "error",
		error: { code: "model_failed", message: "The model failed." },
	});
});

test("the reason for a failed execution is also in its last event", async () => {
	const error = { code: "max_steps_exceeded", message: "Too many steps." };
	const events = [
		{ type: "session_start", sessionId: "s" },
		{ type: "execute_complete", status: "error", error },
	];
	const body = events.map((event, at) => `id: ${at}.0.0\ndata: ${JSON.stringify(event)}\n\n`).join("");
	const fetch = async () => new Response(body, { headers: { "content-type": "text/event-stream" } });
	expect(await client({ fetch }).execute({ input: "Hi" }).result()).toEqual({
		sessionId: "s",
		status: "error",
		messages: [],
		cost: 0,
		error,
	});
});

test("headers are sent with every request, and a function is called each time", async () => {
	let asked = 0;
	const signedIn = client({ headers: async () => ({ authorization: `Bearer ${++asked}` }) });
	await signedIn.execute({ input: "Hi" }).result();
	await signedIn.session("session-1");
	await client({ headers: { "x-tenant": "one" } }).session("session-1");
	expect(server.requests.map(({ headers }) => headers.authorization ?? headers["x-tenant"])).toEqual([
		"Bearer 1",
		"Bearer 2",
		"one",
	]);
});

test("rejections carry the server's code, message and status", async () => {
	const refused = await client()
		.execute({ sessionId: "nobody", input: "Hi" })
		.result()
		.catch((error: unknown) => error);
	expect(isClientError(refused)).toBe(true);
	expect(refused).toMatchObject({
		code: "context_required",
		message: "Context required for new session",
		status: 400,
		retryable: false,
	});
	await expect(client().session("nobody")).rejects.toMatchObject({ code: "session_not_found", status: 404 });
	await expect(client().stop("nobody")).rejects.toMatchObject({ code: "session_not_found", status: 404 });
	expect(server.requests).toHaveLength(3);
});

test("an address without a Holdfast server is distinguished from a failing server", async () => {
	server.faults.push({ status: 404 });
	await expect(client().session("s")).rejects.toMatchObject({ code: "request_failed", status: 404 });
	const page = createClient({ url: "", fetch: async () => new Response("<html>") });
	await expect(page.execute({ input: "Hi" }).result()).rejects.toMatchObject({ code: "invalid_response" });
	const phone = createClient({
		url: "",
		fetch: async () => new Response(null, { headers: { "content-type": "text/event-stream" } }),
	});
	await expect(phone.execute({ input: "Hi" }).result()).rejects.toMatchObject({ code: "stream_unsupported" });
});

test("values that cannot be sent are reported at once", async () => {
	await expect(client({ headers: { "x-name": "ü€\n" } }).session("s")).rejects.toThrow(TypeError);
	const refused = () => client().execute({ input: "Hi", idempotencyKey: "ü" });
	expect(refused).toThrow("`idempotencyKey` must be 1 to 200 visible ASCII characters.");
	expect(server.requests).toEqual([]);
});

test("options are checked at construction", () => {
	expect(() => createClient({} as ClientOptions)).toThrow("needs a `url`");
	expect(() => client().execute(undefined as never)).toThrow("execute() takes options.");
	expect(() => client({ maxReconnects: -1 })).toThrow(
		"`maxReconnects` must be a number of at least 0, not -1.",
	);
});

test("sessions are listed page by page", async () => {
	for (const sessionId of ["a", "b", "c"]) {
		await client().execute({ sessionId, context: {}, input: "Hi" }).result();
	}
	const first = await client().sessions({ limit: 2 });
	expect(first.sessions.map(({ sessionId }) => sessionId)).toEqual(["a", "b"]);
	const second = await client().sessions({
		...(first.next === undefined ? {} : { after: first.next }),
		limit: 2,
	});
	expect(second).toMatchObject({ sessions: [{ sessionId: "c", isOpen: false }] });
	expect(second.next).toBeUndefined();
});

test("the events can be consumed once, and also watched", async () => {
	const stream = client().execute({ input: "Hi" });
	await typesOf(stream);
	expect(() => stream[Symbol.asyncIterator]()).toThrow("already have a consumer");
	await expect(stream.result()).resolves.toMatchObject({ status: "completed" });
});

test("an answer that was cut off is marked in the result", async () => {
	const events = [
		{ type: "session_start", sessionId: "s" },
		{ type: "execute_complete", status: "completed", stopReason: "length" },
	];
	const body = events.map((event, at) => `id: ${at}.0.0\ndata: ${JSON.stringify(event)}\n\n`).join("");
	const fetch = async () => new Response(body, { headers: { "content-type": "text/event-stream" } });
	const result = await client({ fetch }).execute({ sessionId: "s", input: "Hi" }).result();
	expect(result).toMatchObject({ status: "completed", stopReason: "length" });
});

test("a deleted session is not found, also when it is deleted again", async () => {
	await client().execute({ input: "Hi" }).result();
	await client().delete("session-1");
	await expect(client().session("session-1")).rejects.toMatchObject({ code: "session_not_found" });
	await expect(client().delete("session-1")).rejects.toMatchObject({
		code: "session_not_found",
		status: 404,
	});
});

test("stop ends the current work of a session, and does nothing to an idle one", async () => {
	const { promise: never, resolve: wake } = Promise.withResolvers<void>();
	replies = [{ text: "Endless", until: never }];
	const stream = client().execute({ input: "Hi" });
	for await (const { type } of stream) {
		if (type !== "text_delta") continue;
		expect(await client().stop(await stream.sessionId)).toEqual({ stopped: true });
		wake();
	}
	expect(await stream.result()).toMatchObject({ status: "aborted" });
	expect(await client().stop("session-1")).toEqual({ stopped: false });
});
