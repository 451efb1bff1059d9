// Puts a fetch handler on Node's HTTP server through Hono's adapter. Requests that never reach the handler, because they
// are not valid HTTP or name no host, also get a response with a code.
import {
	createServer,
	type Server as HttpServer,
	type IncomingMessage,
	type ServerResponse,
} from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { getRequestListener } from "@hono/node-server";
import { RESPONSE_ALREADY_SENT } from "@hono/node-server/utils/response";
import { HoldfastError } from "holdfast";
import type { Connection } from "./exchange.ts";
import { refusalOf, refuse } from "./http/index.ts";
import { WebSockets } from "./node-web-socket.ts";
import { EventStream, type EventStreamOptions } from "./streams/index.ts";

/** Where to listen. */
export interface ListenOptions {
	/** TCP port; 0 picks a free one. Default 4280. */
	readonly port?: number;
	/**
	 * Name or address to listen on. `0.0.0.0` accepts connections from other machines and requires authentication.
	 * Default `127.0.0.1`: this machine only.
	 */
	readonly hostname?: string;
	/**
	 * Maximum number of simultaneous connections; further ones are closed at once. Each costs about 11 KB while it is
	 * idle. Default: no limit.
	 */
	readonly maxConnections?: number;
}

/** A listening server. */
export interface NodeListener {
	readonly port: number;
	readonly hostname: string;
	/**
	 * Accepts no new connections, and resolves when all are closed. After `graceMs`, the remaining ones are closed by
	 * force.
	 */
	close(graceMs: number): Promise<void>;
}

/**
 * Maximum number of connections that wait to be accepted, if the system allows that many. With Node's 511, clients that
 * connect at once (all followers, after a server restart) find their connections reset while the process is busy.
 */
const backlog = 4_096;

/** Milliseconds that a client that is still sending has to read its response. */
const answeredMs = 2_000;

/** Milliseconds that the head of a stream waits for its first piece: one packet costs less than two. */
const headPatience = 50;

// If something has replaced the global Response, as Hono's adapter does by default, the adapter would write this response
// from a cache although it is already being sent. Reading its body empties the cache.
void RESPONSE_ALREADY_SENT.body;

type Fetch = (request: Request, connection: Connection) => Promise<Response>;

/**
 * Starts listening.
 * @throws HoldfastError `address_unavailable`.
 */
export async function listenOnNode(
	fetch: Fetch,
	{ port = 4280, hostname = "127.0.0.1", maxConnections }: ListenOptions,
): Promise<NodeListener> {
	const answer = getRequestListener(
		async (request, env) => {
			const { incoming, outgoing } = env as { incoming: IncomingMessage; outgoing: ServerResponse };
			let stream: EventStreamOptions | undefined;
			const response = await fetch(request, {
				address: incoming.socket.remoteAddress,
				carry: (given) => {
					stream = given;
				},
			});
			return stream === undefined ? response : carry(stream, response, outgoing);
		},
		{ overrideGlobalObjects: false, errorHandler: () => refuse(refusalOf(notUnderstood())) },
	);
	// The handler below answers a request without a Host header with a code.
	const server = createServer(
		{ requireHostHeader: false, shouldUpgradeCallback: isForWebSocket },
		(incoming: IncomingMessage, outgoing) => {
			// A connection that breaks while it is read or written is the client's problem.
			incoming.on("error", () => {});
			outgoing.on("error", () => {});
			outgoing.once("finish", () => cutOffSoon(incoming));
			if (isAmbiguous(incoming)) refuseOnNode(notUnderstood(), outgoing);
			else void answer(incoming, outgoing);
		},
	);
	const webSockets = new WebSockets(fetch);
	server.on("upgrade", (incoming: IncomingMessage, socket: Socket, head) => {
		if (isAmbiguous(incoming)) answerNoHttp(notUnderstood(), socket);
		else void webSockets.upgrade(incoming, socket, head);
	});
	if (maxConnections !== undefined) server.maxConnections = maxConnections;
	server.on("clientError", answerNoHttp);
	await new Promise<void>((resolve, reject) => {
		server.once("error", (cause: NodeJS.ErrnoException) => reject(unavailable(hostname, port, cause)));
		server.listen({ port, host: hostname, backlog }, () => {
			server.removeAllListeners("error");
			resolve();
		});
	});
	return {
		port: (server.address() as AddressInfo).port,
		hostname,
		close: (graceMs) => closeServer(server, webSockets, graceMs),
	};
}

/** Writes a stream straight to the socket: a body of web streams would double the cost per reader. */
function carry(options: EventStreamOptions, response: Response, outgoing: ServerResponse): Response {
	outgoing.writeHead(response.status, Object.fromEntries(response.headers));
	// The head is sent with the first piece if that comes soon, otherwise alone.
	const headAlone = setTimeout(() => outgoing.flushHeaders(), headPatience);
	const ready = (): void => stream.ready();
	const stream = new EventStream(options, {
		write(piece) {
			clearTimeout(headAlone);
			if (outgoing.write(piece)) return true;
			outgoing.once("drain", ready);
			return false;
		},
		end() {
			clearTimeout(headAlone);
			outgoing.end();
		},
		cut() {
			clearTimeout(headAlone);
			// Without a head, the client could not distinguish a broken stream from a failed server.
			outgoing.flushHeaders();
			outgoing.destroy();
		},
	});
	outgoing.once("close", () => stream.left());
	if (outgoing.destroyed) stream.left();
	else stream.ready();
	return RESPONSE_ALREADY_SENT;
}

/** Other upgrade protocols that a client offers are ignored: it gets an HTTP response. */
function isForWebSocket({ headers }: IncomingMessage): boolean {
	return headers.upgrade?.toLowerCase() === "websocket";
}

/** Headers that a request may have only once: given two, a proxy could use one and this server the other. */
const single: ReadonlySet<string> = new Set(["host", "authorization", "origin", "content-type"]);

function isAmbiguous({ rawHeaders }: IncomingMessage): boolean {
	const seen = new Set<string>();
	for (let at = 0; at < rawHeaders.length; at += 2) {
		const name = rawHeaders[at]?.toLowerCase() ?? "";
		if (!single.has(name)) continue;
		if (seen.has(name)) return true;
		seen.add(name);
	}
	return false;
}

function refuseOnNode(error: HoldfastError, outgoing: ServerResponse): void {
	const { message, code } = error;
	outgoing.writeHead(400, { "content-type": "application/json; charset=utf-8", connection: "close" });
	outgoing.end(JSON.stringify({ error: message, code }));
}

/** Disconnects a client that keeps sending its body after the answer, once it has had time to read the answer. */
function cutOffSoon(incoming: IncomingMessage): void {
	if (incoming.complete) return;
	setTimeout(() => {
		if (!incoming.complete) incoming.socket.destroy();
	}, answeredMs).unref();
}

function notUnderstood(): HoldfastError {
	return new HoldfastError(
		"invalid_request",
		"The request cannot be understood. Check its address and headers.",
	);
}

function unavailable(hostname: string, port: number, cause: NodeJS.ErrnoException): HoldfastError {
	const why = cause.code === "EADDRINUSE" ? "another program listens there" : (cause.code ?? cause.message);
	return new HoldfastError(
		"address_unavailable",
		`The server cannot listen on ${hostname}, port ${port}: ${why}. Choose another port; 0 selects a free one.`,
		{ cause },
	);
}

function closeServer(server: HttpServer, webSockets: WebSockets, graceMs: number): Promise<void> {
	return new Promise((resolve) => {
		const timer = setTimeout(() => {
			webSockets.close();
			server.closeAllConnections();
		}, graceMs);
		// A kept-alive connection counts as busy until its last response is fully sent.
		const sweep = setInterval(() => server.closeIdleConnections(), 20);
		server.close(() => {
			clearTimeout(timer);
			clearInterval(sweep);
			resolve();
		});
	});
}

/** Statuses of requests that Node itself refuses. */
const statusLines: Readonly<Record<string, string>> = {
	HPE_HEADER_OVERFLOW: "431 Request Header Fields Too Large",
	ERR_HTTP_REQUEST_TIMEOUT: "408 Request Timeout",
};

function answerNoHttp(error: NodeJS.ErrnoException, socket: Socket): void {
	if (error.code === "ECONNRESET" || !socket.writable) {
		socket.destroy();
		return;
	}
	const { message, code } = notUnderstood();
	const body = JSON.stringify({ error: message, code });
	const head = [
		`HTTP/1.1 ${statusLines[error.code ?? ""] ?? "400 Bad Request"}`,
		"Connection: close",
		"Content-Type: application/json; charset=utf-8",
		`Content-Length: ${body.length}`,
	];
	socket.end(`${head.join("\r\n")}\r\n\r\n${body}`, () => socket.destroy());
}
