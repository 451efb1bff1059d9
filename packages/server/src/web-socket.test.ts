import { expect, onTestFinished, test } from "vitest";
import { WebSocket } from "ws";
import { createServer, type Route, type Server } from "./index.ts";

const pieces = ["one", "x".repeat(700_000), "three"];

/** Sends what it has, and ends on request. */
const route: Route = {
	method: "ALL",
	path: "/numbers/*",
	name: "numbers",
	summary: "Numbers.",
	answers: {},
	handle(exchange) {
		if (!exchange.wantsWebSocket) return new Response("no socket", { status: 200 });
		let next = 0;
		const isEndless = exchange.request.url.endsWith("/endless");
		return exchange.webSocket("numbers", () => ({
			take() {
				const piece = pieces[next++];
				if (piece !== undefined) return new TextEncoder().encode(piece);
				return isEndless ? "none" : "end";
			},
			close() {},
		}));
	},
};

async function served(options: object = {}): Promise<{ readonly url: string; readonly server: Server }> {
	const server = createServer({ routes: [route], ...options });
	onTestFinished(() => server.close({ drainMs: 0 }));
	const { url } = await server.listen({ port: 0 });
	return { url, server };
}

/** A socket, and what came of it. */
async function opened(url: string, options: object = {}) {
	const messages: string[] = [];
	const socket = new WebSocket(url.replace("http", "ws"), options);
	onTestFinished(() => socket.terminate());
	let status = 101;
	socket.on("message", (data, isBinary) => messages.push(`${isBinary ? "binary " : ""}${String(data)}`));
	socket.on("unexpected-response", (_, response) => {
		status = response.statusCode ?? 0;
		socket.terminate();
	});
	socket.on("error", () => {});
	const closed = new Promise<{ code: number; status: number; messages: string[] }>((resolve) => {
		socket.once("close", (code) => resolve({ code, status, messages }));
	});
	return { socket, messages, closed };
}

test("a stream is sent over a WebSocket, one message per piece of any size, and ends with it", async () => {
	const { url } = await served();
	const { closed } = await opened(`${url}/numbers/1`);
	expect(await closed).toEqual({ code: 1000, status: 101, messages: pieces });
	expect(await (await fetch(`${url}/numbers/1`)).text()).toBe("no socket");
});

test("a socket passes the same checks as any request", async () => {
	const { url } = await served({ apiKeys: { "a-key": "a" }, maxStreams: 1 });
	expect((await (await opened(`${url}/numbers/1`)).closed).status).toBe(401);
	const headers = { authorization: "Bearer a-key" };
	const elsewhere = await opened(`${url}/numbers/1`, {
		headers: { ...headers, origin: "https://evil.example" },
	});
	expect((await elsewhere.closed).status).toBe(403);
	expect((await (await opened(`${url}/none`, { headers })).closed).status).toBe(404);
	expect((await (await opened(`${url}/healthz`, { headers })).closed).status).toBe(426);
	const first = await opened(`${url}/numbers/endless`, { headers });
	await expect.poll(() => first.messages.length).toBe(3);
	expect((await (await opened(`${url}/numbers/endless`, { headers })).closed).status).toBe(429);
	first.socket.close();
	await first.closed;
	await expect
		.poll(async () => (await (await opened(`${url}/numbers/1`, { headers })).closed).status)
		.toBe(101);
});

test("open sockets are closed with the server, and a client that sends too much is disconnected", async () => {
	const { url, server } = await served();
	const noisy = await opened(`${url}/numbers/endless`);
	await expect.poll(() => noisy.messages.length).toBe(3);
	noisy.socket.send("x".repeat(100_000));
	await noisy.closed;
	const open = await opened(`${url}/numbers/endless`);
	await expect.poll(() => open.messages.length).toBe(3);
	await server.close({ drainMs: 0 });
	expect((await open.closed).messages).toEqual(pieces);
});

test("a server with only custom routes needs no sessions, and has none", async () => {
	const { url } = await served();
	expect((await fetch(`${url}/api/agent/sessions`)).status).toBe(404);
	expect((await fetch(`${url}/numbers/1`, { method: "PATCH" })).status).toBe(200);
	expect(() => createServer({})).toThrow(expect.objectContaining({ code: "invalid_option" }));
});
