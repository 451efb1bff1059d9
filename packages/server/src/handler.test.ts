import { expect, test } from "vitest";
import type { Route } from "./http/route.ts";
import { deltas, fakeService } from "./service.fixture.ts";
import { hello, refusal, setUp } from "./setup.fixture.ts";
import { readSse, until } from "./sse.fixture.ts";

test("a POST without a session id streams a new session's run, its id in the header and in the first event [API-062]", async () => {
	const { post } = setUp(undefined, { cors: ["https://app.example.com"] });
	const response = await post("/api/agent/execute", hello, { origin: "https://app.example.com" });
	expect(response.status).toBe(200);
	expect(response.headers.get("content-type")).toBe("text/event-stream");
	expect(response.headers.get("cache-control")).toBe("no-cache");
	expect(response.headers.get("access-control-expose-headers")).toContain("X-Session-Id");
	const events = await readSse(response).rest();
	expect(events[0]?.event).toEqual({
		type: "session_start",
		sessionId: response.headers.get("x-session-id"),
	});
	expect(events.at(-1)?.event).toEqual({ type: "execute_complete", status: "completed" });
	expect(events.map(({ event }) => event.type).filter((type) => type === "execute_complete")).toHaveLength(1);
});

test("a watcher that reconnects gets the events after its last id, then live ones", async () => {
	const { post, get, service } = setUp(fakeService({ say: () => deltas(3), holds: true }));
	const first = readSse(await post("/api/agent/execute", { ...hello, sessionId: "s" }));
	const seen = [await first.next(), await first.next()];
	await first.close();
	const second = readSse(
		await get("/api/agent/session/s/events", { "last-event-id": seen[1]?.id as string }),
	);
	const more = [await second.next(), await second.next()];
	service.emit("default", "s", deltas(2, "late "));
	service.complete("default", "s");
	const joined = [...seen, ...more, ...(await second.rest())].map((each) => each?.id);
	expect(joined).toEqual(service.session("default", "s").log.map(({ id }) => id));
});

test("closing the connection does not affect the run", async () => {
	const { post, metric, service, handler } = setUp(fakeService({ holds: true }));
	const watcher = readSse(await post("/api/agent/execute", { ...hello, sessionId: "s" }));
	await watcher.next();
	await watcher.close();
	expect(service.session("default", "s").status).toBe("running");
	expect(await metric("holdfast_active_runs")).toBe(1);
	expect(await metric("holdfast_open_streams")).toBe(0);
	service.complete("default", "s");
	await until("the run is counted as ended", async () => (await metric("holdfast_active_runs")) === 0);
	await until("nobody follows any more", () => service.followers.open === 0);
	await handler.close();
});

test("many watchers share one reader of the service", async () => {
	const { post, get, service } = setUp(fakeService({ holds: true }));
	const first = readSse(await post("/api/agent/execute", { ...hello, sessionId: "s" }));
	await first.next();
	const watchers = await Promise.all(
		Array.from({ length: 100 }, async () => readSse(await get("/api/agent/session/s/events?follow=1"))),
	);
	for (const watcher of watchers) expect((await watcher.next())?.event.type).toBe("session_start");
	await until("they have all joined", () => service.followers.open === 1);
	service.emit("default", "s", deltas(50));
	service.complete("default", "s");
	for (const watcher of watchers) {
		const ids: string[] = [];
		for (let at = 0; at < 51; at++) ids.push((await watcher.next())?.id as string);
		expect(ids).toEqual(
			service
				.session("default", "s")
				.log.slice(1)
				.map(({ id }) => id),
		);
		await watcher.close();
	}
	await first.rest();
	await until("nobody follows any more", () => service.followers.open === 0);
});

test("a run is streamed to its caller, even if no one watched the previous one", async () => {
	const quiet: Route = {
		method: "POST",
		path: "/quiet",
		name: "quiet",
		summary: "Begins a run and watches nothing.",
		answers: { 204: { description: "It has begun." } },
		async handle(exchange) {
			await exchange.submit("s", { input: "quiet", context: {} }, undefined);
			return new Response(null, { status: 204 });
		},
	};
	const { post } = setUp(undefined, { routes: [quiet] });
	for (let at = 1; at <= 3; at++) {
		// Its events are still unread when the next run is asked for.
		expect((await post("/quiet")).status).toBe(204);
		const events = await readSse(await post("/api/agent/execute", { ...hello, sessionId: "s" })).rest();
		expect(events.map(({ event }) => event.type)).toEqual([
			"session_start",
			"text_delta",
			"text_delta",
			"text_delta",
			"execute_complete",
		]);
	}
});

test("an events stream ends at once if there is nothing more, even while others follow the session", async () => {
	const { post, get, service } = setUp();
	await readSse(await post("/api/agent/execute", { ...hello, sessionId: "s" })).rest();
	const last = service.session("default", "s").log.at(-1)?.id;
	const follower = readSse(await get(`/api/agent/session/s/events?follow=1&after=${last}`));
	const next = follower.next();
	await readSse(await post("/api/agent/execute", { sessionId: "s", input: "two" })).rest();
	await next;
	const end = service.session("default", "s").log.at(-1)?.id;
	expect(await readSse(await get(`/api/agent/session/s/events?after=${end}`)).rest()).toEqual([]);
	const before = service.session("default", "s").log.at(-3)?.id;
	const rest = await readSse(await get(`/api/agent/session/s/events?after=${before}`)).rest();
	expect(rest.at(-1)?.id).toBe(end);
	await follower.close();
});

test("a watcher that reconnects for events outside the window reads them from the service", async () => {
	const { post, get, service } = setUp(fakeService({ holds: true }));
	const first = readSse(await post("/api/agent/execute", { ...hello, sessionId: "s" }));
	const ids: string[] = [];
	const readOn = async (count: number): Promise<void> => {
		for (let at = 0; at < count; at++) ids.push((await first.next())?.id as string);
	};
	await readOn(1);
	// Far more than the window keeps when nobody lags.
	for (let at = 0; at < 10; at++) {
		service.emit("default", "s", deltas(50, "x".repeat(1000)));
		await readOn(50);
	}
	const opened = service.followers.ever;
	const late = readSse(await get(`/api/agent/session/s/events?after=${ids.at(-3)}`));
	expect((await late.next())?.id).toBe(ids.at(-2));
	expect(service.followers.ever).toBe(opened);
	const early = readSse(await get(`/api/agent/session/s/events?after=${ids[2]}`));
	for (const id of ids.slice(3)) expect((await early.next())?.id).toBe(id);
	expect(service.followers.ever).toBe(opened + 1);
	service.complete("default", "s");
	for (const reader of [first, late, early])
		expect((await reader.rest()).at(-1)?.event.type).toBe("execute_complete");
});

test("an invalid input is rejected as JSON that names the field, before any stream", async () => {
	const { post, service } = setUp();
	for (const [body, field] of [
		["{", "invalid_json"],
		["", "invalid_json"],
		["[]", "invalid_input"],
		["null", "invalid_input"],
		[{ context: {} }, "`input`"],
		[{ ...hello, sessionId: 7 }, "`sessionId`"],
		[{ ...hello, sesionId: "s" }, "sesionId"],
	] as const) {
		const response = await post("/api/agent/execute", body);
		expect(response.status).toBe(400);
		expect(response.headers.get("content-type")).toContain("application/json");
		const text = await response.text();
		expect(text).toContain(field);
	}
	expect(service.submitted).toEqual([]);
});

test("a body can have four MiB and no more, unless configured [API-071]", async () => {
	const { post } = setUp();
	const body = (bytes: number): string => {
		const text = JSON.stringify({ ...hello, input: "" });
		return JSON.stringify({ ...hello, input: "x".repeat(bytes - text.length) });
	};
	const limit = 4 * 1024 * 1024;
	expect((await post("/api/agent/execute", body(limit))).status).toBe(200);
	expect(await refusal(await post("/api/agent/execute", body(limit + 1)))).toEqual([413, "body_too_large"]);
});

test("a POST with the same idempotency key attaches to the first execution, even after its end", async () => {
	const { post, service, metric } = setUp();
	const key = { "idempotency-key": "order-7" };
	const first = await post("/api/agent/execute", hello, key);
	const events = await readSse(first).rest();
	const second = await post("/api/agent/execute", hello, key);
	expect(second.headers.get("x-session-id")).toBe(first.headers.get("x-session-id"));
	expect(await readSse(second).rest()).toEqual(events);
	await readSse(
		await post("/api/agent/execute", {
			sessionId: first.headers.get("x-session-id"),
			input: hello.input,
		}),
	).rest();
	expect(await readSse(await post("/api/agent/execute", hello, key)).rest()).toEqual(events);
	expect(service.submitted).toHaveLength(2);
	await until("no run is counted", async () => (await metric("holdfast_active_runs")) === 0);
	for (const wrong of ["", " ", "x".repeat(256), "a b"])
		expect(
			await refusal(await post("/api/agent/execute", hello, { "idempotency-key": `a${wrong}b c` })),
		).toEqual([400, "invalid_input"]);
});

test("an events stream ends after the last execution, and with follow=1 continues with the next", async () => {
	const { post, get, service } = setUp();
	for (const input of ["one", "two"])
		await readSse(await post("/api/agent/execute", { ...hello, sessionId: "s", input })).rest();
	const all = await readSse(await get("/api/agent/session/s/events")).rest();
	expect(all.map(({ id }) => id)).toEqual(service.session("default", "s").log.map(({ id }) => id));
	expect(all.filter(({ event }) => event.type === "execute_complete")).toHaveLength(2);
	const following = readSse(await get(`/api/agent/session/s/events?follow=1&after=${all.at(-1)?.id}`));
	const next = following.next();
	await readSse(await post("/api/agent/execute", { sessionId: "s", input: "three" })).rest();
	expect((await next)?.event.type).toBe("session_start");
	await following.close();
});

test("every route that names an unknown session returns not found", async () => {
	const { get, post } = setUp();
	const answer = { error: "Session not found", code: "session_not_found" };
	for (const response of [
		await get("/api/agent/session/none"),
		await get("/api/agent/session/none/events"),
		await get(`/api/agent/session/${"x".repeat(500)}`),
		await post("/api/agent/session/none/stop"),
		await post("/api/agent/session/none/approve", { toolCallId: "call-1" }),
	]) {
		expect(response.status).toBe(404);
		expect(await response.json()).toEqual(answer);
	}
});

test("an approval is a separate kind of input", async () => {
	const { post, service } = setUp();
	await readSse(await post("/api/agent/execute", { ...hello, sessionId: "s" })).rest();
	const denied = { toolCallId: "call-1", reason: "Too dear." };
	await readSse(await post("/api/agent/session/s/approve", { toolCallId: "call-1" })).rest();
	await readSse(await post("/api/agent/session/s/deny", denied)).rest();
	expect(service.submitted.slice(1).map(({ input }) => input)).toEqual([
		[{ role: "approval", toolCallId: "call-1", approved: true }],
		[{ role: "approval", toolCallId: "call-1", approved: false, reason: "Too dear." }],
	]);
});

test("sessions are listed a page at a time", async () => {
	const { get, post } = setUp();
	for (const sessionId of ["a", "b", "c"])
		await readSse(await post("/api/agent/execute", { ...hello, sessionId })).rest();
	const first = await (await get("/api/agent/sessions?limit=2")).json();
	expect(first.sessions.map(({ sessionId }: { sessionId: string }) => sessionId)).toEqual(["a", "b"]);
	const second = await (await get(`/api/agent/sessions?limit=2&after=${first.next}`)).json();
	expect(second.sessions.map(({ sessionId }: { sessionId: string }) => sessionId)).toEqual(["c"]);
	for (const limit of ["0", "1000", "x", "1.5"])
		expect(await refusal(await get(`/api/agent/sessions?limit=${limit}`))).toEqual([400, "invalid_input"]);
});

test("a HEAD of a stream opens no stream", async () => {
	const { post, metric, handler } = setUp(fakeService({ holds: true }));
	const own = readSse(await post("/api/agent/execute", { ...hello, sessionId: "s" }));
	const head = await handler.fetch(
		new Request("http://localhost/api/agent/session/s/events", { method: "HEAD" }),
	);
	expect(head.status).toBe(405);
	expect(await metric("holdfast_open_streams")).toBe(1);
	await own.close();
});

test("an internal error is answered without details and logged without its text", async () => {
	const service = fakeService();
	service.get = () => Promise.reject(new Error("the password is swordfish"));
	const logged: unknown[] = [];
	const { get } = setUp(service, { log: (entry) => logged.push(entry) });
	const response = await get("/api/agent/session/s");
	expect(response.status).toBe(500);
	const text = await response.text();
	expect(JSON.parse(text).code).toBe("internal_error");
	expect(text + JSON.stringify(logged)).not.toContain("swordfish");
	expect(logged).toMatchObject([
		{ type: "error", name: "Error" },
		{ type: "request", route: "/api/agent/session/:id", status: 500, code: "internal_error", sessionId: "s" },
	]);
});

test("a stream is logged once, when it ends, with the reason", async () => {
	const logged: unknown[] = [];
	const { post } = setUp(fakeService({ holds: true }), { log: (entry) => logged.push(entry) });
	const watcher = readSse(await post("/api/agent/execute", { ...hello, sessionId: "s" }));
	await watcher.next();
	expect(logged).toEqual([]);
	await watcher.close();
	expect(logged).toMatchObject([{ status: 200, stream: "left", sessionId: "s", tenant: "default" }]);
});

test("the metrics include the store's numbers if it has any, and the others while it is unavailable", async () => {
	let isAway = false;
	const stats = { queued: 3, oldestDueMs: 1_500, leases: 2, takeovers: 1, commits: 40 };
	const storeStats = async () => {
		if (isAway) throw new Error("away");
		return stats;
	};
	const { metric, handler } = setUp(undefined, { storeStats });
	const names = [
		"reachable",
		"queued_sessions",
		"oldest_due_seconds",
		"leases",
		"takeovers_total",
		"commits_total",
	];
	const numbers = () => Promise.all(names.map((name) => metric(`holdfast_store_${name}`)));
	expect(await numbers()).toEqual([1, 3, 1.5, 2, 1, 40]);
	isAway = true;
	expect(await numbers()).toEqual([0, ...names.slice(1).map(() => Number.NaN)]);
	expect(await metric("holdfast_open_streams")).toBe(0);
	await handler.close();
	const without = setUp();
	expect(await without.metric("holdfast_store_reachable")).toBeNaN();
	await without.handler.close();
});
