// Creates the clients and transports of the official package from the options of servers.

import { boundFetch } from "@holdfast/upp";
import {
	Client,
	type JsonSchemaValidator,
	type jsonSchemaValidator,
	StreamableHTTPClientTransport,
	type Transport,
} from "@modelcontextprotocol/client";
import { getDefaultEnvironment, StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import type { McpServer } from "./connect-options.ts";

/**
 * Results are data that a model reads, in any form. Validating them against a server's own schemas would let the server
 * choose patterns that run indefinitely.
 */
const believesNothing: jsonSchemaValidator = {
	getValidator<Value>(): JsonSchemaValidator<Value> {
		return (input: unknown) => ({ valid: true, data: input as Value, errorMessage: undefined });
	},
};

/** Returns a client that is not connected yet. */
export function newClient(
	server: McpServer,
	{ elicitation, sampling }: { readonly elicitation: boolean; readonly sampling: boolean },
	toolsChanged: () => void,
): Client {
	const { protocol = "auto", connectTimeoutMs = 60_000 } = server;
	// Some programs with the older protocol version never answer unknown methods; over HTTP, no answer means no server.
	const isProgram = protocol === "auto" && "command" in server;
	const timeoutMs = isProgram ? Math.min(connectTimeoutMs, 10_000) : connectTimeoutMs;
	const mode = protocol === "auto" ? "auto" : protocol === "2025" ? "legacy" : { pin: "2026-07-28" };
	const client = new Client(
		{ name: "holdfast", version: "0.1.0" },
		{
			capabilities: {
				...(elicitation ? { elicitation: { form: {}, url: {} } } : {}),
				...(sampling ? { sampling: {} } : {}),
			},
			jsonSchemaValidator: believesNothing,
			versionNegotiation: { mode, probe: { timeoutMs } },
			listChanged: { tools: { autoRefresh: false, debounceMs: 20, onChanged: toolsChanged } },
		},
	);
	client.onerror = () => {}; // errors are reported where they occur
	return client;
}

/** Maximum size of one response or one event of a server: 16 MiB. */
const defaultAnswerBytes = 16 * 1024 * 1024;

/** Returns a transport that is not started yet. */
export function newTransport(server: McpServer): Transport {
	if ("transport" in server) return server.transport();
	if ("command" in server) {
		const { command, args = [], env = {}, cwd, stderr = "report" } = server;
		return new StdioClientTransport({
			command,
			args: [...args],
			env: { ...getDefaultEnvironment(), ...env },
			stderr: stderr === "report" ? "pipe" : stderr,
			...(cwd === undefined ? {} : { cwd }),
		});
	}
	const { url, headers, auth, fetch } = server;
	const transport = new StreamableHTTPClientTransport(new URL(url), {
		...(auth === undefined ? {} : { authProvider: auth }),
		fetch: boundFetch({
			fetch,
			headers,
			origins: [url],
			// A stream to which the server may write at any time is often silent; requests have their own deadlines.
			silenceMs: Number.POSITIVE_INFINITY,
			maxBytes: server.maxAnswerBytes ?? defaultAnswerBytes,
			eventStreams: "each-event",
			// A call whose stream is cut off would wait for an answer that never comes.
			onTooLarge: () => void transport.close(),
		}),
	});
	return transport;
}
