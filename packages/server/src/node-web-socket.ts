// Streams over WebSockets on Node. Such a request passes the same checks as every other one: a refusal is an HTTP
// response and never opens a socket.
import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import { type WebSocket, WebSocketServer } from "ws";
import type { Connection } from "./exchange.ts";
import { EventStream, type EventStreamOptions, heartbeat } from "./streams/index.ts";

/** Bytes that may wait in a socket before the stream waits for it. */
const mostWaiting = 256 * 1024;
/** Maximum size in bytes of a message from the client: none of it is read. */
const mostSaid = 1_024;

type Fetch = (request: Request, connection: Connection) => Promise<Response>;

/** Upgrades requests; `close` disconnects all sockets. */
export class WebSockets {
	readonly #fetch: Fetch;
	readonly #server = new WebSocketServer({ noServer: true, maxPayload: mostSaid, perMessageDeflate: false });

	constructor(fetch: Fetch) {
		this.#fetch = fetch;
	}

	/** Answers a request to upgrade a connection. Never rejects. */
	async upgrade(incoming: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
		// A connection that breaks is the client's problem.
		socket.on("error", () => socket.destroy());
		try {
			let stream: EventStreamOptions | undefined;
			const response = await this.#fetch(requestOf(incoming), {
				address: incoming.socket.remoteAddress,
				upgrade: (given) => {
					stream = given;
				},
			});
			if (stream === undefined) await refuseUpgrade(socket, response);
			else this.#open(stream, incoming, socket, head);
		} catch {
			socket.destroy();
		}
	}

	close(): void {
		for (const socket of this.#server.clients) socket.terminate();
	}

	#open(stream: EventStreamOptions, incoming: IncomingMessage, socket: Duplex, head: Buffer): void {
		let isOpen = false;
		// The library answers an invalid handshake and then closes the connection.
		const given = (): void => {
			if (!isOpen) stream.ended("left", 0);
		};
		socket.once("close", given);
		this.#server.handleUpgrade(incoming, socket, head, (webSocket) => {
			isOpen = true;
			carry(stream, webSocket);
		});
	}
}

function carry(options: EventStreamOptions, socket: WebSocket): void {
	let isFull = false;
	const stream = new EventStream(options, {
		write(piece) {
			if (piece === heartbeat) socket.ping();
			else
				socket.send(piece, { binary: false }, () => {
					if (isFull && socket.bufferedAmount < mostWaiting) {
						isFull = false;
						stream.ready();
					}
				});
			isFull = socket.bufferedAmount >= mostWaiting;
			return !isFull;
		},
		end: () => socket.close(1000),
		cut: () => socket.terminate(),
	});
	socket.on("error", () => socket.terminate());
	socket.on("close", () => stream.left());
	if (socket.readyState === socket.OPEN) stream.ready();
	else stream.left();
}

function requestOf(incoming: IncomingMessage): Request {
	const { host = "localhost" } = incoming.headers;
	const headers = new Headers();
	for (const [name, value] of Object.entries(incoming.headers))
		for (const each of Array.isArray(value) ? value : [value])
			if (each !== undefined) headers.append(name, each);
	return new Request(new URL(incoming.url ?? "/", `http://${host}`), { headers });
}

async function refuseUpgrade(socket: Duplex, response: Response): Promise<void> {
	const body = Buffer.from(await response.arrayBuffer());
	// A response without a stream cannot answer a WebSocket request.
	const status = response.ok ? 426 : response.status;
	const lines = [`HTTP/1.1 ${status} Refused`, "connection: close", `content-length: ${body.length}`];
	for (const [name, value] of response.headers)
		if (name !== "content-length" && name !== "connection") lines.push(`${name}: ${value}`);
	socket.end(Buffer.concat([Buffer.from(`${lines.join("\r\n")}\r\n\r\n`), body]), () => socket.destroy());
}
