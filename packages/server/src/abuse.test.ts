import { existsSync, readFileSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { Worker } from "node:worker_threads";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createHandler, type Handler } from "./handler.ts";
import { statusByCode } from "./http/errors.ts";
import { createServer, type Server } from "./server.ts";
import { deltas, fakeService } from "./service.fixture.ts";
import { readSse, until } from "./sse.fixture.ts";
import type { RequestLogEntry } from "./telemetry/log.ts";

// Thousands of requests take their time on a busy machine.
const keys = { "key-of-a": "a", "key-of-b": "b" };
const asTenant = (tenant: string): Record<string, string> => ({ authorization: `Bearer key-of-${tenant}` });
const base = "http://localhost";
/** Every path there is, with "s" for what it names. */
const paths: readonly string[] = await (async () => {
	const { fetch } = createHandler({ service: fakeService() });
	const { paths: described } = (await (await fetch(new Request(`${base}/openapi.json`))).json()) as {
		paths: object;
	};
	return Object.keys(described).map((path) => path.replaceAll(/\{\w+\}/g, "s"));
})();

/** Checks that an answer is a refusal with a known code, or one of success; gives its text. */
async function clearAnswer(response: Response): Promise<string> {
	const isStream = response.headers.get("content-type") === "text/event-stream";
	if (isStream) {
		await response.body?.cancel();
		return "";
	}
	const text = await response.text();
	if (response.status < 400) return text;
	const { error, code } = JSON.parse(text) as { error: unknown; code: string };
	expect(typeof error).toBe("string");
	expect(statusByCode.get(code), `${code} in ${text}`).toBe(response.status);
	expect(code, text).not.toBe("internal_error");
	return text;
}

describe("bad input in any shape", () => {
	const service = fakeService({ say: () => deltas(2) });
	const logged: RequestLogEntry[] = [];
	const handler: Handler = createHandler({ service, apiKeys: keys, log: (entry) => logged.push(entry) });
	const send = (path: string, init: RequestInit): Promise<Response> =>
		handler.fetch(new Request(base + path, init));

	test("any JSON as a body gets a clear answer", async () => {
		await fc.assert(
			fc.asyncProperty(fc.constantFrom(...paths), fc.json({ maxDepth: 6 }), async (path, body) => {
				const headers = { "content-type": "application/json", ...asTenant("a") };
				await clearAnswer(await send(path, { method: "POST", headers, body }));
			}),
			{ numRuns: 400 },
		);
	});

	test("an object with the right members of the wrong types gets a clear answer", async () => {
		const wrong = fc.anything({ maxDepth: 3, withBigInt: false });
		const body = fc.record(
			{ sessionId: wrong, input: wrong, context: wrong, options: wrong, toolCallId: wrong, reason: wrong },
			{ requiredKeys: [] },
		);
		await fc.assert(
			fc.asyncProperty(fc.constantFrom(...paths), body, async (path, value) => {
				const headers = { "content-type": "application/json", ...asTenant("a") };
				await clearAnswer(await send(path, { method: "POST", headers, body: JSON.stringify(value) }));
			}),
			{ numRuns: 400 },
		);
	});

	test("any bytes as a body get a clear answer", async () => {
		await fc.assert(
			fc.asyncProperty(fc.uint8Array({ maxLength: 200 }), async (bytes) => {
				const headers = { "content-type": "application/json", ...asTenant("a") };
				const response = await send("/api/agent/execute", {
					method: "POST",
					headers,
					body: new Uint8Array(bytes),
				});
				await clearAnswer(response);
			}),
			{ numRuns: 300 },
		);
	});

	test("any path, query and method get a clear answer", async () => {
		const piece = fc.oneof(
			fc.webSegment(),
			fc.constantFrom("..", "%2e%2e", "%00", "%0d%0aset-cookie:x", "%", "ü", "s%2f..%2ft"),
		);
		const path = fc
			.tuple(fc.constantFrom("/", "/api/agent/session/", "/api/agent/"), fc.array(piece, { maxLength: 4 }))
			.map(([start, pieces]) => start + pieces.join("/"));
		const method = fc.constantFrom("GET", "POST", "PUT", "DELETE", "PATCH", "OPTIONS", "HEAD");
		await fc.assert(
			fc.asyncProperty(path, fc.webQueryParameters(), method, async (where, query, verb) => {
				const response = await send(`${where}?${query}`, { method: verb, headers: asTenant("a") });
				if (verb === "HEAD") await response.body?.cancel();
				else await clearAnswer(response);
			}),
			{ numRuns: 600 },
		);
	});

	test("any session id is rejected or echoed unchanged, and never breaks a header", async () => {
		const ids = fc.oneof(
			fc.string({ unit: "binary", maxLength: 200 }),
			fc.constantFrom(
				"a\r\nset-cookie: x=1",
				"..",
				".",
				"a/b",
				"",
				"a".repeat(129),
				"__proto__",
				"constructor",
			),
		);
		await fc.assert(
			fc.asyncProperty(ids, async (sessionId) => {
				const response = await send("/api/agent/execute", {
					method: "POST",
					headers: { "content-type": "application/json", ...asTenant("a") },
					body: JSON.stringify({ sessionId, input: "x", context: {} }),
				});
				expect(response.headers.has("set-cookie")).toBe(false);
				if (response.status === 200) expect(response.headers.get("x-session-id")).toBe(sessionId);
				await clearAnswer(response);
			}),
			{ numRuns: 400 },
		);
	});

	test("any last event id gets a clear answer", async () => {
		await clearAnswer(
			await send("/api/agent/execute", {
				method: "POST",
				headers: { "content-type": "application/json", ...asTenant("a") },
				body: JSON.stringify({ sessionId: "known", input: "x", context: {} }),
			}),
		);
		const ids = fc.oneof(
			fc.string({ maxLength: 40 }),
			fc.constantFrom("1", "1.0.0", "99999999", "1e9.0.0", "-1.0.0", "0x1.0.0", "9".repeat(50)),
		);
		await fc.assert(
			fc.asyncProperty(ids, async (id) => {
				const response = await send(`/api/agent/session/known/events?after=${encodeURIComponent(id)}`, {
					headers: asTenant("a"),
				});
				if (response.status !== 200) expect(response.status).toBe(400);
				await clearAnswer(response);
			}),
			{ numRuns: 300 },
		);
	});

	test("endlessly nested JSON is rejected", async () => {
		for (const body of ["[".repeat(100_000), `{"input":${"[".repeat(5_000)}${"]".repeat(5_000)}}`]) {
			const response = await send("/api/agent/execute", {
				method: "POST",
				headers: { "content-type": "application/json", ...asTenant("a") },
				body,
			});
			expect([response.status, (await response.json()).code]).toEqual([400, "invalid_json"]);
		}
	});

	test("callers without a valid key or hook result get 401 from every route, and nothing else [API-060]", async () => {
		const hook = createHandler({
			service,
			authenticate: ({ headers }) => (headers.get("cookie") === "me" ? { tenant: "a" } : undefined),
		});
		for (const path of [...paths, "/nowhere"])
			for (const headers of [
				{},
				{ authorization: "Bearer wrong" },
				{ authorization: "key-of-a" },
				{ "x-api-key": "__proto__" },
				{ authorization: "Basic key-of-a" },
				{ cookie: "you" },
			])
				for (const method of ["GET", "POST"]) {
					const init = { method, headers: headers as Record<string, string> };
					for (const { fetch } of [handler, hook]) {
						const response = await fetch(new Request(base + path, init));
						expect([response.status, (await response.json()).code]).toEqual([401, "unauthorized"]);
					}
				}
		expect((await hook.fetch(new Request(`${base}/healthz`, { headers: { cookie: "me" } }))).status).toBe(
			200,
		);
	});

	test("nothing that was sent appears in the log, and nothing failed internally", async () => {
		const secret = "s3cr3t-of-the-caller";
		await send(`/api/agent/session/known?token=${secret}`, { headers: asTenant("a") });
		await send(`/${secret}`, { headers: asTenant("a") });
		await send("/api/agent/execute", {
			method: "POST",
			headers: { "content-type": "application/json", authorization: `Bearer ${secret}` },
			body: JSON.stringify({ input: secret }),
		});
		await send("/api/agent/execute", {
			method: "POST",
			headers: { "content-type": "application/json", cookie: secret, ...asTenant("a") },
			body: `{"input": ${secret}}`,
		});
		const text = JSON.stringify(logged);
		expect(text).not.toContain(secret);
		expect(text).not.toContain("key-of-a");
		expect(logged.filter(({ type }) => type === "error")).toEqual([]);
		expect(logged.length).toBeGreaterThan(1000);
	});
});

describe("another tenant's session", () => {
	const service = fakeService({ holds: true });
	const handler = createHandler({ service, apiKeys: keys });
	const as = (tenant: string, path: string, body?: unknown): Promise<Response> =>
		handler.fetch(
			new Request(base + path, {
				headers: { "content-type": "application/json", ...asTenant(tenant) },
				...(body === undefined ? {} : { method: "POST", body: JSON.stringify(body) }),
			}),
		);

	test("is not found: not to read, follow, stop, approve or continue, even while it is watched", async () => {
		const own = readSse(await as("a", "/api/agent/execute", { sessionId: "s", input: "x", context: {} }));
		await own.next();
		service.emit("a", "s", [{ type: "text_delta", delta: "private" }]);
		await own.next();
		for (const [path, body] of [
			["/api/agent/session/s", undefined],
			["/api/agent/session/s/events?after=1.0.0&follow=1", undefined],
			["/api/agent/session/s/stop", {}],
			["/api/agent/session/s/approve", { toolCallId: "call-1" }],
			["/api/agent/session/s/deny", { toolCallId: "call-1" }],
		] as const) {
			const response = await as("b", path, body);
			expect([path, response.status]).toEqual([path, 404]);
			expect(await response.json()).toEqual({ error: "Session not found", code: "session_not_found" });
		}
		const results = [{ role: "tool", toolCallId: "call-1", output: "x" }];
		const continued = await as("b", "/api/agent/execute", { sessionId: "s", input: results });
		expect((await continued.json()).code).toBe("context_required");
		expect(await (await as("b", "/api/agent/sessions")).json()).toEqual({ sessions: [] });
		expect(service.session("a", "s").status).toBe("running");
		await own.close();
	});

	test("shares no idempotency key with the caller's own", async () => {
		const headers = { "content-type": "application/json", "idempotency-key": "once" };
		const ids = new Set<string | null>();
		for (const tenant of ["a", "b", "a", "b"]) {
			const response = await handler.fetch(
				new Request(`${base}/api/agent/execute`, {
					method: "POST",
					headers: { ...headers, ...asTenant(tenant) },
					body: JSON.stringify({ input: "x", context: {} }),
				}),
			);
			expect(response.status).toBe(200);
			ids.add(response.headers.get("x-session-id"));
			await response.body?.cancel();
		}
		expect(ids.size).toBe(2);
	});
});

describe("a flood", () => {
	const service = fakeService({ holds: true });
	let server: Server;
	let port = 0;
	let url = "";
	const sockets: Socket[] = [];

	beforeAll(async () => {
		server = createServer({ service, heartbeatMs: 1_000, maxBufferedBytes: 64 * 1024 });
		({ port, url } = await server.listen({ port: 0 }));
	});
	afterAll(async () => {
		for (const socket of sockets) socket.destroy();
		await server.close({ drainMs: 0 });
	});

	const metric = async (name: string): Promise<number> => {
		const text = await (await fetch(`${url}/metrics`)).text();
		return Number(new RegExp(`^${name} (.*)$`, "m").exec(text)?.[1]);
	};
	const dial = (text: string): Socket => {
		const socket = connect(port, "127.0.0.1");
		sockets.push(socket);
		socket.on("error", () => {});
		socket.write(text);
		return socket;
	};

	test("of half-open, half-sent and stalled connections leaves nothing open", async () => {
		const first = await fetch(`${url}/api/agent/execute`, {
			method: "POST",
			headers: { "content-type": "application/json" },
			body: JSON.stringify({ sessionId: "s", input: "x", context: {} }),
		});
		await readSse(first).next();
		const before = await metric("process_resident_memory_bytes");
		const post = "POST /api/agent/execute HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n";
		for (let at = 0; at < 300; at++) {
			dial("GET /api/agent/session/s/events?follow=1 HTTP/1.1\r\nHost: localhost\r\n\r\n").pause();
			dial(`${post}Content-Length: 1000\r\n\r\n{"input"`);
			dial("GET /api/agent/session/s/eve");
			dial(`${post}Content-Length: 20\r\n\r\n{"input":"x"`).end();
		}
		await until("all streams are open", async () => (await metric("holdfast_open_streams")) === 301);
		for (let at = 0; at < 20; at++) service.emit("default", "s", deltas(100, "x".repeat(100)));
		expect(await metric("holdfast_buffered_bytes")).toBeLessThan(64 * 1024 + 2 * 64 * 1024);
		for (const socket of sockets) socket.destroy();
		await until("only one stream is open", async () => (await metric("holdfast_open_streams")) <= 1);
		await first.body?.cancel().catch(() => {});
		service.complete("default", "s");
		await until("none is open", async () => (await metric("holdfast_open_streams")) === 0);
		await until("nobody follows", () => service.followers.open === 0);
		expect(await metric("holdfast_buffered_bytes")).toBe(0);
		expect(await metric("holdfast_active_runs")).toBe(0);
		expect((await metric("process_resident_memory_bytes")) - before).toBeLessThan(200 * 1024 * 1024);
		expect((await fetch(`${url}/healthz`)).status).toBe(200);
	});

	test("of clients that arrive at once while the process is busy rejects no one", async ({ skip }) => {
		const room = "/proc/sys/net/core/somaxconn";
		skip(!existsSync(room) || Number(readFileSync(room, "utf8")) < 2_000, "the system lets fewer wait");
		const dialed = 1_500;
		const connected = new Int32Array(new SharedArrayBuffer(4));
		const crowd = new Worker(
			`const { connect } = require("node:net");
			const { workerData: { port, dialed, connected } } = require("node:worker_threads");
			for (let at = 0; at < dialed; at++) connect(port, "127.0.0.1", () => {
				if (Atomics.add(connected, 0, 1) === dialed - 1) Atomics.notify(connected, 0);
			}).on("error", () => {});`,
			{ eval: true, workerData: { port, dialed, connected } },
		);
		// This thread accepts nothing in the meantime.
		const deadline = Date.now() + 5_000;
		while (Atomics.load(connected, 0) < dialed && Date.now() < deadline)
			Atomics.wait(connected, 0, Atomics.load(connected, 0), 100);
		expect(Atomics.load(connected, 0)).toBe(dialed);
		await crowd.terminate();
	});
});
