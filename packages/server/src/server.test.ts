import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { scriptedModel } from "@holdfast/testing";
import { afterEach, expect, test } from "vitest";
import type { Route } from "./http/index.ts";
import { type HandlerOptions, resolveOptions } from "./options.ts";
import { createServer, listen, type Server } from "./server.ts";
import { deltas, type FakeService, fakeService } from "./service.fixture.ts";
import { readSse, type SseReader, until } from "./sse.fixture.ts";

const running: Server[] = [];
const sockets: Socket[] = [];

afterEach(async () => {
	for (const socket of sockets.splice(0)) socket.destroy();
	for (const server of running.splice(0)) await server.close({ drainMs: 0 });
});

interface Started {
	readonly url: string;
	readonly port: number;
	readonly server: Server;
}

async function start(service: FakeService, options: Partial<HandlerOptions> = {}): Promise<Started> {
	const server = createServer({ service, ...options });
	running.push(server);
	return { server, ...(await server.listen({ port: 0 })) };
}

const headers = { "content-type": "application/json" };
const begin = (sessionId: string): RequestInit => ({
	method: "POST",
	headers,
	body: JSON.stringify({ sessionId, input: { role: "user", content: "Hello" }, context: {} }),
});

/** A connection that sends text and keeps what comes. */
function dial(port: number, text: string): { readonly socket: Socket; readonly read: () => string } {
	let read = "";
	const socket = connect(port, "127.0.0.1");
	sockets.push(socket);
	socket.setEncoding("utf8");
	socket.on("data", (more) => {
		read += more;
	});
	socket.on("error", () => {});
	socket.write(text);
	return { socket, read: () => read };
}

async function metric(url: string, name: string): Promise<number> {
	const text = await (await fetch(`${url}/metrics`)).text();
	return Number(new RegExp(`^${name} (.*)$`, "m").exec(text)?.[1]);
}

test.each([
	["/api/chat", { id: "s", messages: [{ id: "m", role: "user", parts: [{ type: "text", text: "Hello" }] }] }],
	[
		"/api/ag-ui",
		{
			threadId: "s",
			runId: "r",
			messages: [{ id: "m", role: "user", content: "Hello" }],
			...{ tools: [], context: [], state: {}, forwardedProps: {} },
		},
	],
])(
	"%s answers with a head before it ends the stream of a session that is deleted at once",
	async (path, body) => {
		const service = fakeService({ holds: true });
		const ended: FakeService["follow"] = async function* () {};
		const { url } = await start({ ...service, follow: ended });
		const response = await fetch(`${url}${path}`, { method: "POST", headers, body: JSON.stringify(body) });
		expect(response.status).toBe(200);
		await expect(response.text()).rejects.toThrow("terminated");
	},
);

test.each([
	["Host: localhost", "Host: evil.example"],
	["Host: localhost", "Authorization: Bearer a", "Authorization: Bearer b"],
	["Host: localhost", "Origin: http://localhost", "Origin: http://evil.example"],
	["Host: localhost", "host: localhost", "Upgrade: websocket", "Connection: Upgrade"],
])("a request with two headers of which one is allowed is rejected (%s, %s)", async (...lines) => {
	const { port } = await start(fakeService());
	const { socket, read } = dial(port, `GET /healthz HTTP/1.1\r\n${lines.join("\r\n")}\r\n\r\n`);
	await until("it is answered", () => socket.destroyed || socket.readableEnded || read().includes("}"));
	expect(read()).toMatch(/^HTTP\/1\.1 400 [\s\S]*"code":"invalid_request"/);
});

test("a route for all paths below one does not match paths with a longer name", async () => {
	const route = (path: string, method: Route["method"], says: string): Route => ({
		method,
		path,
		name: says,
		summary: says,
		answers: {},
		handle: () => new Response(says),
	});
	const { url } = await start(fakeService(), {
		routes: [route("/api/*", "ALL", "all"), route("/api/inspect/sessions", "GET", "inspector")],
	});
	expect(await (await fetch(`${url}/api/inspect/sessions`)).text()).toBe("inspector");
	expect(await (await fetch(`${url}/api/other`)).text()).toBe("all");
});

test("a reader that stops is disconnected at the limit, the run and other watchers continue, and it resumes without loss [API-083]", async () => {
	const service = fakeService({ holds: true });
	const { url, port } = await start(service, { maxBufferedBytes: 256 * 1024, heartbeatMs: 60_000 });
	const other = readSse(await fetch(`${url}/api/agent/execute`, begin("s")));
	await other.next();
	const slow = dial(port, `GET /api/agent/session/s/events?follow=1 HTTP/1.1\r\nHost: localhost\r\n\r\n`);
	await until("the slow reader has begun", () => slow.read().includes("session_start"));
	slow.socket.pause();
	let isCut = false;
	slow.socket.on("close", () => {
		isCut = true;
	});
	// The sockets of both sides take some megabytes by themselves.
	for (let said = 0; said < 200; said++) {
		service.emit("default", "s", deltas(64, "x".repeat(1000)));
		for (let at = 0; at < 64; at++) await other.next();
		expect(await metric(url, "holdfast_buffered_bytes")).toBeLessThan(256 * 1024 + 2 * 64 * 1024);
	}
	// Long before a reader is that has only paused.
	await until("it is cut", async () => (await metric(url, "holdfast_open_streams")) === 1);
	service.complete("default", "s");
	expect((await other.rest()).at(-1)?.event.type).toBe("execute_complete");
	slow.socket.resume();
	await until("its connection is closed", () => isCut);
	const seen = [...slow.read().matchAll(/^id: (\S+)\ndata: .*\n$/gm)].map(([, id]) => id as string);
	const rest = await readSse(
		await fetch(`${url}/api/agent/session/s/events`, {
			headers: { "last-event-id": seen.at(-1) as string },
		}),
	).rest();
	expect([...seen, ...rest.map(({ id }) => id)]).toEqual(
		service.session("default", "s").log.map(({ id }) => id),
	);
});

test("a burst above the limit disconnects no active reader, alone or among many", async () => {
	const service = fakeService({ holds: true });
	const { url } = await start(service, { maxBufferedBytes: 64 * 1024 });
	const first = readSse(await fetch(`${url}/api/agent/execute`, begin("s")));
	await first.next();
	const crowd: SseReader[] = [];
	for (const size of [0, 40]) {
		while (crowd.length < size) {
			const from = service.session("default", "s").log.at(-1)?.id;
			const events = `${url}/api/agent/session/s/events?after=${from}`;
			crowd.push(readSse(await fetch(events)));
		}
		service.emit("default", "s", deltas(3_000, "x".repeat(1000)));
		const all = [first, ...crowd].map(async (reader) => {
			for (let at = 0; at < 3_000; at++) expect((await reader.next())?.event.type).toBe("text_delta");
		});
		await Promise.all(all);
		expect(await metric(url, "holdfast_open_streams")).toBe(1 + size);
		expect(await metric(url, "holdfast_buffered_bytes")).toBeLessThan(3 * 64 * 1024);
	}
	service.complete("default", "s");
	expect((await first.rest()).at(-1)?.event.type).toBe("execute_complete");
});

test("a silent stream gets heartbeats without an id, and they do not end it [API-084]", async () => {
	const service = fakeService({ holds: true });
	const { url } = await start(service, { heartbeatMs: 20 });
	const reader = readSse(await fetch(`${url}/api/agent/execute`, begin("s")));
	await reader.next();
	const next = reader.next();
	await until("heartbeats came", async () => {
		await Promise.race([next, new Promise((resolve) => setTimeout(resolve, 5))]);
		return reader.heartbeats >= 3;
	});
	service.complete("default", "s");
	expect((await next)?.event.type).toBe("execute_complete");
	expect(await reader.next()).toBeUndefined();
});

test("a stream can have one MiB unread and is silent for at most fifteen seconds, unless configured [API-083, API-084]", () => {
	const { maxBufferedBytes, heartbeatMs } = resolveOptions({ service: fakeService() });
	expect([maxBufferedBytes, heartbeatMs]).toEqual([1024 * 1024, 15_000]);
});

test("a cut connection closes its stream and releases the session", async () => {
	const service = fakeService({ holds: true });
	const { url } = await start(service);
	const open = await Promise.all(
		Array.from({ length: 50 }, async (_, at) => {
			const abort = new AbortController();
			const response = await fetch(`${url}/api/agent/execute`, { ...begin(`s${at}`), signal: abort.signal });
			await readSse(response).next();
			return abort;
		}),
	);
	expect(await metric(url, "holdfast_open_streams")).toBe(50);
	for (const abort of open) abort.abort();
	await until("no stream is open", async () => (await metric(url, "holdfast_open_streams")) === 0);
	for (let at = 0; at < 50; at++) service.complete("default", `s${at}`);
	await until("nobody follows", () => service.followers.open === 0);
	expect(await metric(url, "holdfast_buffered_bytes")).toBe(0);
});

test("a body over the limit is rejected before it is fully sent, with or without its length [API-071]", async () => {
	const { port } = await start(fakeService(), { maxBodyBytes: 1000 });
	const post = `POST /api/agent/execute HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n`;
	const announced = dial(port, `${post}Content-Length: 100000000\r\n\r\n{`);
	await until("the announced one is refused", () => announced.read().includes("body_too_large"));
	expect(announced.read()).toContain("HTTP/1.1 413");
	const chunked = dial(port, `${post}Transfer-Encoding: chunked\r\n\r\n`);
	for (let at = 0; at < 3; at++) chunked.socket.write(`1f4\r\n${" ".repeat(500)}\r\n`);
	await until("the other one is refused", () => chunked.read().includes("body_too_large"));
	expect(chunked.read()).toContain("HTTP/1.1 413");
});

test("a content type other than JSON is rejected, and so is a compressed body [API-071]", async () => {
	const { url } = await start(fakeService());
	for (const more of [
		{ "content-type": "text/plain" },
		{ "content-type": "application/x-www-form-urlencoded" },
		{ "content-type": "application/json; charset=latin1" },
		{ "content-type": "application/json", "content-encoding": "gzip" },
	]) {
		const response = await fetch(`${url}/api/agent/execute`, { ...begin("s"), headers: more });
		expect([response.status, (await response.json()).code]).toEqual([415, "unsupported_media_type"]);
	}
});

test("an address that others can reach needs authentication [API-060]", async () => {
	const open = createServer({ service: fakeService() });
	await expect(open.listen({ hostname: "0.0.0.0", port: 0 })).rejects.toMatchObject({
		code: "unauthenticated_address",
	});
	for (const more of [{ apiKeys: { key: "acme" } }, { allowUnauthenticated: true }]) {
		const server = createServer({ service: fakeService(), ...more });
		await server.listen({ hostname: "0.0.0.0", port: 0 });
		await server.close();
	}
});

test("a misspelt option is rejected, so that no server is open to everyone by mistake", async () => {
	const keys = { "the-key": "acme" };
	const service = fakeService();
	const refused = {
		code: "invalid_option",
		message: expect.stringContaining("no option `apikeys`. Did you mean `apiKeys`?"),
	};
	expect(() => createServer({ service, apikeys: keys } as never)).toThrow(expect.objectContaining(refused));
	await expect(listen({ service, port: 0, apikeys: keys } as never)).rejects.toMatchObject(refused);
	const where = createServer({ service }).listen({ prot: 0 } as never);
	await expect(where).rejects.toMatchObject({ code: "invalid_option" });
});

test("an invalid agent is rejected before the server listens, and its database is closed again", async () => {
	const db = join(mkdtempSync(join(tmpdir(), "holdfast-agent-")), "sessions.db");
	const wrong = listen({ agent: { model: "gpt-5.2" as never }, db, port: 0 });
	await expect(wrong).rejects.toThrow('openai("gpt-5.2")');
	expect(readdirSync(dirname(db))).toEqual(["sessions.db"]);
	// A file where a folder should be.
	const unusable = listen({ agent: { model: scriptedModel([]) }, db: join(db, "x.db"), port: 0 });
	await expect(unusable).rejects.toMatchObject({ code: "journal_unavailable" });
	rmSync(dirname(db), { recursive: true });
});

test("an address in use is rejected, and nothing starts there", async () => {
	const { port } = await start(fakeService());
	const service = fakeService();
	let recovered = 0;
	service.supervise = async () => {
		recovered++;
	};
	const second = createServer({ service });
	await expect(second.listen({ port })).rejects.toMatchObject({ code: "address_unavailable" });
	await expect(listen({ service, port })).rejects.toMatchObject({ code: "address_unavailable" });
	expect(recovered).toBe(0);
	await second.close();
});

test("invalid HTTP gets a response with a code", async () => {
	const { port } = await start(fakeService());
	for (const text of [
		"nonsense\r\n\r\n",
		"GET /healthz HTTP/1.1\r\n\r\n",
		"GET /healthz HTTP/1.1\r\nHost: a b\r\n\r\n",
		"GET \\evil HTTP/1.1\r\nHost: localhost\r\n\r\n",
		`GET /healthz HTTP/1.1\r\nHost: localhost\r\nX: ${"x".repeat(20_000)}\r\n\r\n`,
	]) {
		const { read } = dial(port, text);
		await until(`"${text.slice(0, 40)}" is answered`, () => read().includes("invalid_request"));
		expect(read()).toMatch(/^HTTP\/1\.1 4\d\d /);
	}
});

test("a server that closes rejects new work, ends its streams and stops", async () => {
	const service = fakeService({ holds: true });
	const { url, server } = await start(service);
	const reader = readSse(await fetch(`${url}/api/agent/execute`, begin("s")));
	await reader.next();
	let finish = (): void => {};
	const { close } = service;
	Object.assign(service, {
		close: () =>
			new Promise<void>((resolve) => {
				finish = () => void close.call(service).then(resolve);
			}),
	});
	const closed = server.close();
	const refused = await fetch(`${url}/api/agent/execute`, begin("t"));
	expect([refused.status, (await refused.json()).code]).toEqual([503, "shutting_down"]);
	expect(refused.headers.get("retry-after")).toBe("2");
	expect((await fetch(`${url}/api/agent/session/s`)).status).toBe(200);
	expect((await (await fetch(`${url}/healthz`)).json()).code).toBe("shutting_down");
	service.complete("default", "s");
	expect((await reader.rest()).at(-1)?.event.type).toBe("execute_complete");
	finish();
	await closed;
	await expect(fetch(`${url}/healthz`)).rejects.toThrow();
});

test("guesses of keys over several connections are stopped, because they share one address [API-060]", async () => {
	const service = fakeService();
	const failedAttempts = { attempts: 5, windowMs: 60_000 };
	const { port } = await start(service, { apiKeys: { "the-key": "a" }, failedAttempts });
	const answers: string[] = [];
	for (let at = 0; at < 8; at++) {
		const head = `GET /api/agent/sessions HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n`;
		const { socket, read } = dial(port, `${head}X-API-Key: guess-${at}\r\n\r\n`);
		await new Promise((resolve) => socket.once("close", resolve));
		answers.push(read().slice(9, 12));
	}
	expect(answers).toEqual(["401", "401", "401", "401", "401", "429", "429", "429"]);
});

test("a body that is too large is answered even if its sender writes all of it first, and the connection stays usable", async () => {
	const { port } = await start(fakeService());
	const head = "POST /api/agent/execute HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n";
	const bytes = 20 * 1024 * 1024;
	const next = "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n";
	const { read } = dial(port, `${head}Content-Length: ${bytes}\r\n\r\n${"x".repeat(bytes)}${next}`);
	await until("both are answered", () => read().includes('{"status":"ok"}'));
	expect(read().match(/HTTP\/1\.1 \d+/g)).toEqual(["HTTP/1.1 413", "HTTP/1.1 200"]);
});
