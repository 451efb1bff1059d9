// The issue tracker: a server on this machine. It creates one issue for each idempotency key. To simulate a broken connection, it does
// not answer the first request.
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

interface Issue {
	readonly title: string;
	readonly text: string;
}

export interface Tracker {
	readonly url: string;
	/** The key that a request must contain. */
	readonly key: string;
	readonly issues: ReadonlyMap<string, Issue>;
	/** Requests so far. */
	readonly requests: () => number;
	close(): void;
}

export async function startTracker(): Promise<Tracker> {
	const key = "tracker-key-5d1f";
	const issues = new Map<string, Issue>();
	let requests = 0;
	const server = createServer(async (request, response) => {
		requests++;
		let text = "";
		for await (const chunk of request) text += chunk;
		const id = request.headers["idempotency-key"];
		const isKnown = request.headers.authorization === `Bearer ${key}`;
		if (!isKnown || typeof id !== "string") {
			response.writeHead(isKnown ? 400 : 401).end();
			return;
		}
		issues.set(id, issues.get(id) ?? JSON.parse(text));
		if (requests === 1) response.writeHead(503).end();
		else response.writeHead(201, { location: `/issues/${[...issues.keys()].indexOf(id) + 1}` }).end();
	});
	server.listen(0, "127.0.0.1");
	await once(server, "listening");
	const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
	return { url, key, issues, requests: () => requests, close: () => void server.close() };
}
