// A local HTTP server that answers like a provider, from recordings or from streams of our own, for tests that go
// through the real `@ai-sdk/*` packages.

import { readFileSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { join } from "node:path";

/** The folder of recorded replies; if it is unset, tests of them are skipped. */
export const recordings: string | undefined = process.env.HOLDFAST_RECORDINGS;

/** Returns the title of a suite of recordings, with the reason if it is skipped. */
export function recordingsTitle(title: string): string {
	return recordings === undefined ? `${title} (skipped: HOLDFAST_RECORDINGS is not set)` : title;
}

/** Reads the payloads of a recorded stream, one per line. */
export function recorded(name: string): string[] {
	const file = join(recordings ?? "", name);
	return readFileSync(file, "utf8")
		.split("\n")
		.filter((line) => line.trim() !== "");
}

/** One answer of the server. */
export interface Reply {
	status?: number;
	headers?: Record<string, string>;
	body?: string | Uint8Array;
	/** Offsets in bytes at which to split the body into pieces sent one after the other. */
	splitAt?: readonly number[];
	/** How the answer ends: completely, with the socket destroyed after the body, or never. */
	ending?: "complete" | "cut" | "hang";
}

export interface ProviderServer {
	url: string;
	/** The bodies received, parsed. */
	requests: { path: string; headers: Record<string, string>; body: any }[];
	/** Resolves when a client has closed a connection before it received the whole answer. */
	closed: Promise<void>;
	/** Resolves when a request has arrived. */
	arrived: Promise<void>;
	stop(): Promise<void>;
}

export type Format = "openai" | "anthropic" | "google";

/** Payloads as a stream of server-sent events, as the provider would write them. */
export function sse(payloads: readonly string[], format: Format): string {
	const records = payloads.map((payload) =>
		format === "anthropic"
			? `event: ${JSON.parse(payload).type}\ndata: ${payload}\n\n`
			: `data: ${payload}${format === "google" ? "\r\n\r\n" : "\n\n"}`,
	);
	return records.join("") + (format === "openai" ? "data: [DONE]\n\n" : "");
}

/** Starts a server that sends the replies in order; the last one is repeated. */
export async function startServer(replies: readonly Reply[]): Promise<ProviderServer> {
	const requests: ProviderServer["requests"] = [];
	const sockets = new Set<Socket>();
	const closed = Promise.withResolvers<void>();
	const arrived = Promise.withResolvers<void>();
	const server = createServer(async (request, response) => {
		const body = await readBody(request);
		const reply = replies[Math.min(requests.length, replies.length - 1)] ?? {};
		requests.push({ path: request.url ?? "", headers: request.headers as Record<string, string>, body });
		arrived.resolve();
		response.on("close", () => {
			if (!response.writableFinished) closed.resolve();
		});
		await answer(response, reply);
	});
	server.on("connection", (socket) => {
		sockets.add(socket);
		socket.on("close", () => sockets.delete(socket));
		socket.on("error", () => {});
	});
	await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
	return {
		url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
		requests,
		closed: closed.promise,
		arrived: arrived.promise,
		stop: () =>
			new Promise((resolve) => {
				for (const socket of sockets) socket.destroy();
				server.close(() => resolve());
			}),
	};
}

async function readBody(request: IncomingMessage): Promise<any> {
	let text = "";
	for await (const chunk of request) text += chunk;
	return text === "" ? undefined : JSON.parse(text);
}

async function answer(response: ServerResponse, reply: Reply): Promise<void> {
	response.writeHead(reply.status ?? 200, { "content-type": "text/event-stream", ...reply.headers });
	response.flushHeaders();
	const body = Buffer.from(reply.body ?? "");
	let start = 0;
	for (const end of [...(reply.splitAt ?? []), body.length]) {
		const piece = body.subarray(start, end);
		start = end;
		// Waiting until each piece is sent makes the pieces arrive separately.
		if (piece.length > 0)
			await new Promise<void>((resolve) => response.write(piece, () => setImmediate(resolve)));
	}
	if (reply.ending === "cut") response.socket?.destroy();
	else if (reply.ending !== "hang") response.end();
}
