import { expect, test } from "vitest";
import { createHandler, type Handler } from "./handler.ts";
import type { HandlerOptions } from "./options.ts";
import { deltas, type FakeService, fakeService } from "./service.fixture.ts";
import { readSse, until } from "./sse.fixture.ts";

interface Setup {
	readonly service: FakeService;
	readonly handler: Handler;
	post(path: string, body: unknown, headers?: Record<string, string>): Promise<Response>;
	get(path: string, headers?: Record<string, string>): Promise<Response>;
}

function setUp(
	service: FakeService = fakeService({ say: () => deltas(3) }),
	options: Partial<HandlerOptions> = {},
): Setup {
	const handler = createHandler({ service, ...options });
	return {
		service,
		handler,
		post: (path, body, headers = {}) =>
			handler.fetch(
				new Request(`http://localhost${path}`, {
					method: "POST",
					body: typeof body === "string" ? body : JSON.stringify(body),
					headers: { "content-type": "application/json", ...headers },
				}),
			),
		get: (path, headers = {}) => handler.fetch(new Request(`http://localhost${path}`, { headers })),
	};
}

const hello = { input: { role: "user", content: "Hello" }, context: {} };

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

test("a watcher that comes back reads behind its last id, then what is live", async () => {
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

test("closing the connection leaves the run alone", async () => {
	const { post, get, service, handler } = setUp(fakeService({ holds: true }));
	const watcher = readSse(await post("/api/agent/execute", { ...hello, sessionId: "s" }));
	await watcher.next();
	await watcher.close();
	expect(service.session("default", "s").status).toBe("running");
	const metrics = await (await get("/metrics")).text();
	expect(metrics).toContain("holdfast_active_runs 1");
	expect(metrics).toContain("holdfast_open_streams 0");
	service.complete("default", "s");
	await until("the run is counted as ended", async () =>
		(await (await get("/metrics")).text()).includes("holdfast_active_runs 0"),
	);
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
