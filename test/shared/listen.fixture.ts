// A fetch function on a loopback port.
import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";

export interface Listening {
	readonly server: Server;
	readonly url: string;
	readonly port: number;
	close(): Promise<void>;
}

/** Listens on a port, 0 for any free one, and calls `heard` with each request before it is answered. */
export async function listen(
	fetch: (request: Request) => Response | Promise<Response>,
	port = 0,
	heard?: (incoming: IncomingMessage) => void,
): Promise<Listening> {
	const server = createServer((incoming, outgoing) => {
		heard?.(incoming);
		const gone = new AbortController();
		outgoing.on("close", () => gone.abort());
		outgoing.on("error", () => {});
		const pieces: Buffer[] = [];
		incoming.on("error", () => {});
		incoming.on("data", (piece) => pieces.push(piece));
		incoming.on("end", async () => {
			const body = Buffer.concat(pieces);
			const request = new Request(`http://${incoming.headers.host}${incoming.url}`, {
				method: incoming.method ?? "GET",
				headers: incoming.headers as Record<string, string>,
				signal: gone.signal,
				...(body.length === 0 ? {} : { body }),
			});
			const response = await fetch(request);
			outgoing.writeHead(response.status, Object.fromEntries(response.headers));
			outgoing.flushHeaders();
			try {
				if (response.body !== null)
					for await (const piece of response.body) {
						// Leaving the loop cancels the body: an endless one would keep the process busy for all later tests.
						if (gone.signal.aborted) break;
						outgoing.write(piece);
					}
			} catch {
				// the other side went away
			}
			outgoing.end();
		});
	});
	server.on("error", () => {});
	await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
	const taken = (server.address() as AddressInfo).port;
	return {
		server,
		port: taken,
		url: `http://127.0.0.1:${taken}`,
		async close() {
			server.closeAllConnections();
			await new Promise((resolve) => server.close(resolve));
		},
	};
}
