import { describe, expect, test } from "vitest";
import { deltas, fakeService } from "../service.fixture.ts";
import { hello, refusal, setUp } from "../setup.fixture.ts";
import { readSse, until } from "../sse.fixture.ts";
import { isLoopback } from "./origins.ts";

const apiKeys = { "key-of-a": "a", "key-of-b": "b" };
const bearer = (tenant: string): Record<string, string> => ({ authorization: `Bearer key-of-${tenant}` });

describe("authentication", () => {
	test("a key determines whose sessions are used, in either header", async () => {
		const { post, get } = setUp(undefined, { apiKeys });
		await readSse(await post("/api/agent/execute", { ...hello, sessionId: "s" }, bearer("a"))).rest();
		expect((await get("/api/agent/session/s", bearer("a"))).status).toBe(200);
		expect((await get("/api/agent/session/s", { "x-api-key": "key-of-a" })).status).toBe(200);
		expect((await get("/api/agent/session/s", bearer("b"))).status).toBe(404);
	});

	test("a hook does too, and one that throws rejects everyone", async () => {
		const hook = setUp(undefined, {
			authenticate: async ({ headers }) => (headers.get("cookie") === "me" ? { tenant: "a" } : undefined),
		});
		expect((await hook.get("/api/agent/sessions", { cookie: "me" })).status).toBe(200);
		expect(await refusal(await hook.get("/api/agent/sessions"))).toEqual([401, "unauthorized"]);
		const broken = setUp(undefined, {
			authenticate: () => {
				throw new Error("no database");
			},
		});
		expect(await refusal(await broken.get("/api/agent/sessions"))).toEqual([500, "internal_error"]);
		const empty = setUp(undefined, { authenticate: () => ({ tenant: "" }) });
		expect(await refusal(await empty.get("/api/agent/sessions"))).toEqual([401, "unauthorized"]);
	});

	test("a public path needs no key, and every other path needs one", async () => {
		const { get } = setUp(undefined, { apiKeys, publicPaths: ["/healthz"] });
		expect((await get("/healthz")).status).toBe(200);
		expect((await get("/metrics")).status).toBe(401);
	});

	test("invalid options are rejected", () => {
		for (const [options, code] of [
			[{ apiKeys, authenticate: () => undefined }, "conflicting_options"],
			[{ apiKeys: { "a b": "x" } }, "invalid_option"],
			[{ apiKeys: { key: "" } }, "invalid_option"],
			[{ cors: ["*"] }, "invalid_option"],
			[{ cors: ["https://app.example.com/"] }, "invalid_option"],
			[{ heartbeatMs: 0 }, "invalid_option"],
			[{ maxBodyBytes: Number.NaN }, "invalid_option"],
			[{ rateLimit: { requests: 1, windowMs: 0 } }, "invalid_option"],
			[{ failedAttempts: { attempts: 0, windowMs: 1 } }, "invalid_option"],
			[{ failedAttempts: { attempts: 1, windowMs: Number.POSITIVE_INFINITY } }, "invalid_option"],
			[{ peerHeader: "X Real IP" }, "invalid_option"],
		] as const)
			expect(() => setUp(undefined, options)).toThrow(expect.objectContaining({ code }));
	});
});

describe("origins", () => {
	test("without authentication only loopback names are served", async () => {
		const { handler } = setUp(undefined, { allowedHosts: ["my.machine"] });
		const ask = (host: string): Promise<Response> =>
			handler.fetch(new Request("http://localhost/healthz", { headers: { host } }));
		for (const host of [
			"localhost",
			"localhost:4280",
			"127.0.0.1:1",
			"[::1]:80",
			"LOCALHOST",
			"my.machine:80",
		])
			expect([host, (await ask(host)).status]).toEqual([host, 200]);
		for (const host of ["evil.example", "localhost.evil.example", "127.0.0.1.evil.example", "[::2]", ""])
			expect([host, ...(await refusal(await ask(host)))]).toEqual([host, 403, "host_not_allowed"]);
	});

	test("loopback names are recognised, and similar names are not", () => {
		expect(["::1", "[::1]", "127.1.2.3"].map(isLoopback)).toEqual([true, true, true]);
		expect(["0.0.0.0", "127.0.0.1.x", "::", "128.0.0.1"].map(isLoopback)).toEqual([
			false,
			false,
			false,
			false,
		]);
	});

	test("a page of another origin is rejected, even if it could only send", async () => {
		const { post, get, service } = setUp(fakeService({ holds: true }), { cors: ["https://app.example.com"] });
		await (await post("/api/agent/execute", { ...hello, sessionId: "s" })).body?.cancel();
		const foreign = { origin: "https://evil.example" };
		expect(await refusal(await post("/api/agent/session/s/stop", undefined, foreign))).toEqual([
			403,
			"origin_not_allowed",
		]);
		expect(await refusal(await get("/api/agent/session/s", { origin: "null" }))).toEqual([
			403,
			"origin_not_allowed",
		]);
		expect(service.session("default", "s").status).toBe("running");
		expect((await get("/healthz", { origin: "http://localhost" })).status).toBe(200);
	});

	test("a configured origin may read what it needs; others get no headers [API-062]", async () => {
		const { handler, get } = setUp(undefined, { apiKeys, cors: ["https://app.example.com"] });
		const preflight = (origin: string): Promise<Response> =>
			handler.fetch(
				new Request("http://localhost/api/agent/execute", {
					method: "OPTIONS",
					headers: { origin, "access-control-request-method": "POST" },
				}),
			);
		const allowed = await preflight("https://app.example.com");
		expect(allowed.status).toBe(204);
		expect(allowed.headers.get("access-control-allow-origin")).toBe("https://app.example.com");
		expect(allowed.headers.get("access-control-allow-headers")).toContain("last-event-id");
		expect((await preflight("https://evil.example")).status).toBe(403);
		const plain = await get("/healthz", bearer("a"));
		expect(plain.headers.get("access-control-allow-origin")).toBeNull();
		expect(plain.headers.get("access-control-expose-headers")).toBeNull();
		expect(plain.headers.get("vary")).toBe("Origin");
		const refused = await get("/healthz", { origin: "https://app.example.com" });
		expect(refused.status).toBe(401);
		expect(refused.headers.get("access-control-allow-origin")).toBe("https://app.example.com");
	});
});

describe("cross-origin reads", () => {
	const app = "https://app.example.com";
	const foreign = [
		"https://evil.example",
		"http://app.example.com",
		"https://app.example.com:444",
		"https://app.example.com.evil.example",
		"https://sub.app.example.com",
		"null",
		"*",
	];
	const readable = (response: Response): readonly (string | null)[] =>
		["access-control-allow-origin", "access-control-allow-credentials", "access-control-expose-headers"].map(
			(name) => response.headers.get(name),
		);

	test.each([{ cors: [app] }, { cors: [] }, {}])(
		"no response lets a page of another origin read it, rejected or not, with %j [API-062]",
		async (options) => {
			const { handler, post } = setUp(undefined, { ...options, allowedHosts: ["localhost"] });
			await (await post("/api/agent/execute", { ...hello, sessionId: "s" })).text();
			for (const origin of [...foreign, ...("cors" in options && options.cors.length > 0 ? [] : [app])])
				for (const [method, path] of [
					["GET", "/healthz"],
					["GET", "/api/agent/session/s"],
					["GET", "/api/agent/session/none"],
					["GET", "/nowhere"],
					["POST", "/api/agent/execute"],
					["OPTIONS", "/api/agent/execute"],
				] as const) {
					const headers = { origin, "access-control-request-method": "POST" };
					const response = await handler.fetch(new Request(`http://localhost${path}`, { method, headers }));
					expect([origin, method, path, response.status]).toEqual([origin, method, path, 403]);
					expect([origin, method, path, ...readable(response)]).toEqual([
						origin,
						method,
						path,
						...[null, null, null],
					]);
				}
			// Nor an answer to a page of the server's own, or to no page at all: a cache may show it to others.
			for (const headers of [{ origin: "http://localhost" }, {}] as Record<string, string>[]) {
				const response = await handler.fetch(new Request("http://localhost/healthz", { headers }));
				expect([response.status, ...readable(response)]).toEqual([200, null, null, null]);
			}
		},
	);

	test("a response to an allowed page is only for that page [API-062]", async () => {
		const { get } = setUp(undefined, { cors: [app, "https://other.example"] });
		for (const origin of [app, "https://other.example"]) {
			const response = await get("/healthz", { origin });
			expect(readable(response)).toEqual([origin, null, "X-Session-Id, Retry-After"]);
			expect(response.headers.get("vary")).toBe("Origin");
		}
	});
});

describe("if nothing outlives a request", () => {
	const service = { ...fakeService(), sharesFollowing: false };

	test("no metrics are shown that would be counted there", async () => {
		const { post, get } = setUp(service);
		expect((await post("/api/agent/execute", hello)).status).toBe(200);
		expect(await (await get("/metrics")).text()).not.toMatch(/open_streams|active_runs|buffered_bytes/);
	});

	test.each([{ maxConcurrentRuns: 1 }, { maxStreams: 1 }])(
		"limits that cannot be enforced are rejected: %o",
		(options) => {
			expect(() => setUp(service, options)).toThrow(expect.objectContaining({ code: "conflicting_options" }));
		},
	);
});

describe("rate limits", () => {
	test("a tenant over its request limit gets 429 and a retry time, before any run; others do not [API-061]", async () => {
		const { get, post, service } = setUp(undefined, {
			apiKeys,
			rateLimit: { requests: 2, windowMs: 60_000 },
		});
		for (let at = 0; at < 2; at++) expect((await get("/api/agent/sessions", bearer("a"))).status).toBe(200);
		const refused = await post("/api/agent/execute", hello, bearer("a"));
		expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
		expect(Number(refused.headers.get("retry-after"))).toBeLessThanOrEqual(60);
		expect(await refusal(refused)).toEqual([429, "rate_limited"]);
		expect(service.submitted).toEqual([]);
		expect((await get("/api/agent/sessions", bearer("b"))).status).toBe(200);
	});

	test("a new window admits the tenant again", async () => {
		const { get } = setUp(undefined, { rateLimit: { requests: 1, windowMs: 20 } });
		expect((await get("/healthz")).status).toBe(200);
		await until("the next window has begun", async () => (await get("/healthz")).status === 200);
	});

	test("a tenant over its run limit gets 429 until one has ended, watched or not; others do not", async () => {
		const service = fakeService({ holds: true, say: () => deltas(1) });
		const { post, metric } = setUp(service, { apiKeys, maxConcurrentRuns: 2, publicPaths: ["/metrics"] });
		const begin = (tenant: string, sessionId: string): Promise<Response> =>
			post("/api/agent/execute", { ...hello, sessionId }, bearer(tenant));
		await (await begin("a", "1")).body?.cancel();
		const watched = await begin("a", "2");
		const refused = await begin("a", "3");
		expect(refused.headers.get("retry-after")).toBe("1");
		expect(await refusal(refused)).toEqual([429, "rate_limited"]);
		expect(service.submitted).toHaveLength(2);
		expect((await begin("b", "1")).status).toBe(200);
		// A run that is refused for another reason takes no slot.
		service.complete("a", "1");
		await until("a slot is free", async () => (await metric("holdfast_active_runs")) === 2);
		expect((await begin("a", "2")).status).toBe(409);
		expect((await begin("a", "4")).status).toBe(200);
		await watched.body?.cancel();
	});
});

describe("a caller who guesses keys", () => {
	const failedAttempts = { attempts: 3, windowMs: 60_000 };
	/** Asks as somebody at an address; gives the status. */
	function door(options: Parameters<typeof setUp>[1] = { apiKeys, failedAttempts }) {
		const { handler } = setUp(undefined, options);
		const ask = (address: string | undefined, headers: Record<string, string>): Promise<Response> =>
			handler.fetch(new Request("http://localhost/api/agent/sessions", { headers }), { address });
		const status = async (
			address: string | undefined,
			headers: Record<string, string> = {},
		): Promise<number> => (await ask(address, headers)).status;
		return { ask, status };
	}
	const guess = (word: number | string): Record<string, string> => ({ "x-api-key": `guess-${word}` });

	test("gets 429 and a retry time after that many failures, even with the right key; other addresses are served", async () => {
		const { ask, status } = door();
		for (let at = 0; at < 3; at++) expect(await status("192.0.2.1", guess(at))).toBe(401);
		const refused = await ask("192.0.2.1", bearer("a"));
		expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(50);
		expect(Number(refused.headers.get("retry-after"))).toBeLessThanOrEqual(60);
		expect(await refusal(refused)).toEqual([429, "rate_limited"]);
		expect(await status("192.0.2.2", bearer("a"))).toBe(200);
	});

	test("does not lock out callers who used a valid key from there before", async () => {
		const { status } = door();
		expect(await status("192.0.2.1", bearer("a"))).toBe(200);
		for (let at = 0; at < 5; at++) await status("192.0.2.1", guess(at));
		expect(await status("192.0.2.1", bearer("a"))).toBe(200);
		expect(await status("192.0.2.1", { "x-api-key": "key-of-a" })).toBe(200);
		expect(await status("192.0.2.1", bearer("b"))).toBe(429);
	});

	test("without a key gets 401, however often, and is not counted", async () => {
		const { status } = door();
		for (let at = 0; at < 10; at++) expect(await status("192.0.2.1")).toBe(401);
		expect(await status("192.0.2.1", bearer("a"))).toBe(200);
		for (let at = 0; at < 3; at++) await status("192.0.2.1", guess(at));
		expect(await status("192.0.2.1")).toBe(401);
	});

	test("in parallel gets no additional tries", async () => {
		const { status } = door();
		const answers = await Promise.all(Array.from({ length: 200 }, (_, at) => status("192.0.2.1", guess(at))));
		expect(answers.filter((each) => each === 401)).toHaveLength(3);
		expect(answers.filter((each) => each === 429)).toHaveLength(197);
	});

	test("is counted if a hook authenticates callers, regardless of the header it reads", async () => {
		let asked = 0;
		const { status } = door({
			failedAttempts,
			authenticate: ({ headers }) => {
				asked++;
				return headers.get("x-pin") === "0000" ? { tenant: "a" } : undefined;
			},
		});
		expect(await status("192.0.2.1", { "x-pin": "0000" })).toBe(200);
		for (let at = 1; at < 20; at++) await status("192.0.2.1", { "x-pin": String(at) });
		expect(asked).toBe(4);
	});

	test("has a hundred tries a minute by default, and unlimited tries if counting is off", async () => {
		const byDefault = door({ apiKeys });
		for (let at = 0; at < 100; at++) expect(await byDefault.status("192.0.2.1", guess(at))).toBe(401);
		expect(await byDefault.status("192.0.2.1", guess("last"))).toBe(429);
		const unlimited = door({ apiKeys, failedAttempts: "unlimited" });
		for (let at = 0; at < 200; at++) expect(await unlimited.status("192.0.2.1", guess(at))).toBe(401);
	});

	test("is identified by a proxy's header only if that is configured", async () => {
		const from = (address: string): Record<string, string> => ({ "x-real-ip": address });
		const proxied = door({ apiKeys, failedAttempts, peerHeader: "X-Real-IP" });
		for (let at = 0; at < 4; at++) await proxied.status("127.0.0.1", { ...guess(at), ...from("192.0.2.1") });
		expect(await proxied.status("127.0.0.1", { ...bearer("a"), ...from("192.0.2.1") })).toBe(429);
		expect(await proxied.status("127.0.0.1", { ...bearer("a"), ...from("192.0.2.2") })).toBe(200);
		const open = door();
		for (let at = 0; at < 4; at++) await open.status("192.0.2.9", { ...guess(at), ...from(`192.0.2.${at}`) });
		expect(await open.status("192.0.2.9", bearer("a"))).toBe(429);
	});

	test("can still use public paths", async () => {
		const { handler } = setUp(undefined, { apiKeys, failedAttempts, publicPaths: ["/healthz"] });
		const get = (path: string): Promise<Response> =>
			handler.fetch(new Request(`http://localhost${path}`, { headers: guess("x") }), {
				address: "192.0.2.1",
			});
		for (let at = 0; at < 4; at++) await get("/metrics");
		expect((await get("/metrics")).status).toBe(429);
		expect((await get("/healthz")).status).toBe(200);
	});
});
