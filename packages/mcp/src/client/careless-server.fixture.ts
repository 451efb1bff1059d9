// A server that sends what it is told to, whatever the protocol says: the official one refuses to.
import { InMemoryTransport, type JSONRPCMessage, type Transport } from "@modelcontextprotocol/client";

export interface CarelessServer {
	tools: unknown;
	result: unknown;
	readonly transport: () => Transport;
	/** Tells the client that the tools have changed. */
	changed(): Promise<void>;
}

export function carelessServer(tools: unknown, result: unknown = { content: [] }): CarelessServer {
	let theirs: Transport | undefined;
	const server: CarelessServer = {
		tools,
		result,
		transport: () => {
			const [ours, other] = InMemoryTransport.createLinkedPair();
			theirs = other;
			other.onmessage = (message) => {
				const { id, method, params } = message as {
					id?: number;
					method?: string;
					params?: { protocolVersion: string };
				};
				if (id === undefined) return;
				const initialised = {
					protocolVersion: params?.protocolVersion,
					capabilities: { tools: { listChanged: true } },
					serverInfo: { name: "careless", version: "1" },
				};
				const results: Record<string, unknown> = {
					initialize: initialised,
					"tools/list": { tools: server.tools },
					"tools/call": server.result,
				};
				void other.send({ jsonrpc: "2.0", id, result: results[method ?? ""] ?? {} } as JSONRPCMessage);
			};
			void other.start();
			return ours;
		},
		changed: async () => {
			await theirs?.send({ jsonrpc: "2.0", method: "notifications/tools/list_changed" });
		},
	};
	return server;
}
