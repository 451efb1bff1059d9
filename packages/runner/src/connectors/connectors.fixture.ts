// What the tests of connectors call them with, and the servers that they call.
import { once } from "node:events";
import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { inMemoryClient } from "@holdfast/memory";
import type { RunnerToolContext } from "../contract/index.ts";

export function contextOf(more: Partial<RunnerToolContext> = {}): RunnerToolContext {
	return {
		agentId: "a",
		sessionId: "s",
		signal: new AbortController().signal,
		rng: () => 0,
		clock: { now: () => 1_000_000 },
		memory: inMemoryClient(),
		step: 1,
		attempt: 1,
		idempotencyKey: "k",
		allowDbWrites: false,
		...more,
	};
}

/** A server on this machine, until the function is over. */
export async function serving<T>(
	listener: RequestListener,
	use: (base: string, server: Server) => Promise<T>,
): Promise<T> {
	const server = createServer(listener);
	server.listen(0, "127.0.0.1");
	await once(server, "listening");
	try {
		return await use(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, server);
	} finally {
		server.closeAllConnections();
		server.close();
	}
}
