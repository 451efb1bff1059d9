// Bodies of requests that need none: they are looked at like any other.
import { afterEach, expect, test, vi } from "vitest";
import { createServer, type Server } from "../server.ts";
import { deltas, fakeService } from "../service.fixture.ts";
import { hello, refusal, setUp } from "../setup.fixture.ts";
import { readJsonObject } from "./read-body.ts";

const limit = 1_000;
const open: Server[] = [];
afterEach(async () => {
	for (const server of open.splice(0)) await server.close({ drainMs: 0 });
});

/** Routes that take no body. */
const bodiless = [
	["POST", "/api/agent/session/s/stop"],
	["POST", "/api/chat/s/stop"],
	["DELETE", "/api/agent/session/s"],
] as const;

async function served() {
	const service = fakeService({ holds: true, say: () => deltas(1) });
	const setup = setUp(service, { maxBodyBytes: limit });
	await (await setup.post("/api/agent/execute", { ...hello, sessionId: "s" })).body?.cancel();
	const send = (method: string, path: string, body: BodyInit | null, headers: Record<string, string> = {}) =>
		setup.handler.fetch(
			new Request(`http://localhost${path}`, { method, body, headers, duplex: "half" } as RequestInit),
		);
	return { service, send };
}

const json = { "content-type": "application/json" };

test.each([{}, { "content-length": "900" }])(
	"a body that does not arrive is abandoned (%o)",
	async (headers) => {
		vi.useFakeTimers();
		try {
			const stalled = new ReadableStream({
				start: (controller) => controller.enqueue(new TextEncoder().encode("{")),
			});
			const request = new Request("http://localhost", {
				method: "POST",
				body: stalled,
				headers: { ...json, ...headers },
				duplex: "half",
			} as RequestInit);
			const read = readJsonObject(request, { limit, allowsText: false }).catch((error: unknown) => error);
			let isOver = false;
			void read.then(() => {
				isOver = true;
			});
			// The time begins to count once the stream is read.
			while (!isOver) await vi.advanceTimersByTimeAsync(60_000);
			expect(await read).toMatchObject({ code: "invalid_request", retryable: true });
		} finally {
			vi.useRealTimers();
		}
	},
);

test.each(bodiless)(
	"%s %s does nothing for a body that no request may have [API-071]",
	async (method, path) => {
		const { service, send } = await served();
		const endless = (): ReadableStream<Uint8Array> =>
			new ReadableStream({ pull: (controller) => controller.enqueue(new Uint8Array(400)) });
		for (const [body, headers, status, code] of [
			["x".repeat(5 * 1024 * 1024), { "content-type": "text/plain" }, 413, "body_too_large"],
			["some text", { "content-type": "text/plain" }, 415, "unsupported_media_type"],
			["a=b", { "content-type": "application/x-www-form-urlencoded" }, 415, "unsupported_media_type"],
			["{}", {}, 415, "unsupported_media_type"],
			[" ".repeat(limit + 1), json, 413, "body_too_large"],
			[" ".repeat(limit + 1), { ...json, "content-length": `${limit + 1}` }, 413, "body_too_large"],
			["x".repeat(10), { "content-length": "10" }, 415, "unsupported_media_type"],
			[endless(), json, 413, "body_too_large"],
			["{", json, 400, "invalid_json"],
			["[]", json, 400, "invalid_input"],
			['{"all":true}', json, 400, "invalid_input"],
		] as const)
			expect([
				String(body).slice(0, 20),
				...(await refusal(await send(method, path, body, headers))),
			]).toEqual([String(body).slice(0, 20), status, code]);
		expect(service.session("default", "s").status).toBe("running");
	},
);

test.each(bodiless)("%s %s needs no body, and accepts an empty one", async (method, path) => {
	for (const [body, headers] of [
		[null, {}],
		[null, json],
		["", json],
		["{}", json],
		[" {} ", { ...json, "content-length": "4" }],
	] as const) {
		const { send } = await served();
		expect([body, (await send(method, path, body, headers)).status]).toEqual([body, 200]);
	}
});

test("over a socket 5 MiB of text stop nothing, while a request without a body does [API-071]", async () => {
	const service = fakeService({ holds: true, say: () => deltas(1) });
	const server = createServer({ service });
	open.push(server);
	const { url } = await server.listen({ port: 0 });
	await (
		await fetch(`${url}/api/agent/execute`, {
			method: "POST",
			headers: json,
			body: JSON.stringify({ ...hello, sessionId: "s" }),
		})
	).body?.cancel();
	const stop = (init: RequestInit = {}): Promise<Response> =>
		fetch(`${url}/api/agent/session/s/stop`, { method: "POST", ...init });
	const text = "x".repeat(5 * 1024 * 1024);
	for (const [headers, status] of [
		[{ "content-type": "text/plain" }, 415],
		[json, 413],
	] as const)
		expect((await stop({ body: text, headers })).status).toBe(status);
	expect(service.session("default", "s").status).toBe("running");
	expect(await (await stop()).json()).toEqual({ sessionId: "s", stopped: true });
});
