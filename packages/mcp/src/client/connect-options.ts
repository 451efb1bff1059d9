// The options of `connectMcp`: the servers, and settings for all of them. Validated once, on entry.

import { durationFault, HoldfastError, HoldfastTypeError, longestForeignWait } from "@holdfast/upp";
import type { AuthProvider, OAuthClientProvider, Transport } from "@modelcontextprotocol/client";
import type { RetryPolicy } from "holdfast";

/** Settings of a server, regardless of its transport. */
export interface McpServerOptions {
	/** Names of the tools to offer, as the server names them. Default: all. */
	readonly tools?: readonly string[];
	/**
	 * Whether to offer a tool, `read_resource`, that lists and reads the server's resources, if it has any. Default
	 * false: results may name resources, but the agent cannot read them.
	 */
	readonly resources?: boolean;
	/** Whether calls require approval. The function receives the tool's name on the server. Default false. */
	readonly needsApproval?: boolean | ((toolName: string, params: unknown) => boolean | Promise<boolean>);
	/**
	 * How a call may be retried after a crash, or after its connection broke. Default "manual-recovery": never run again.
	 * A server's own annotations (`readOnlyHint`, `idempotentHint`) are ignored, unless this is "as-annotated".
	 */
	readonly retryPolicy?: RetryPolicy | "as-annotated";
	/**
	 * Milliseconds that a call may take without progress; then it fails with `server_silent`. Time in which a request of the
	 * server waits for an answer does not count. Default 600,000; Infinity: no limit.
	 */
	readonly timeoutMs?: number;
	/**
	 * Milliseconds for one request while connecting, which in total may take twice as long, and for listing all tools.
	 * Default 60,000.
	 */
	readonly connectTimeoutMs?: number;
	/**
	 * The protocol version to use: 2026-07-28 if the server supports it ("auto", the default), or only one of the two.
	 */
	readonly protocol?: "auto" | "2025" | "2026";
	/** Whether `connectMcp` resolves even if this server cannot be reached; it is retried later. Default false. */
	readonly optional?: boolean;
}

/** A server that is a program: `connectMcp` starts it and communicates over its standard input and output. */
export interface McpStdioServer extends McpServerOptions {
	/** The program to start. */
	readonly command: string;
	/** Its arguments. Default: none. */
	readonly args?: readonly string[];
	/** Variables in addition to the few that are passed on, such as PATH and HOME. Default: none. */
	readonly env?: Readonly<Record<string, string>>;
	/** The folder in which it starts. Default: the current one. */
	readonly cwd?: string;
	/**
	 * Where the program's error output goes. Default "report": the error that reports the program's death contains its
	 * last lines, and the rest is discarded.
	 */
	readonly stderr?: "report" | "inherit" | "ignore";
}

/** A server at a URL, over streamable HTTP. */
export interface McpHttpServer extends McpServerOptions {
	/** The address of the server. */
	readonly url: string | URL;
	/** Sent with every request. */
	readonly headers?: Readonly<Record<string, string>>;
	/** A bearer token, `{ token: async () => … }`, or an OAuth client of the official package. */
	readonly auth?: AuthProvider | OAuthClientProvider;
	/** Sends the requests, for example only to public addresses. Default: the global `fetch`. */
	readonly fetch?: (url: string | URL, init?: RequestInit) => Promise<Response>;
	/**
	 * The maximum size of one response in bytes; for an event stream, of one event. A larger one is cut off along with
	 * its connection, which is reopened for the next call. Default 16 MiB.
	 */
	readonly maxAnswerBytes?: number;
}

/** A server behind your own transport; the function is called for a new one at each connection. */
export interface McpTransportServer extends McpServerOptions {
	/** Creates a transport of the official package. */
	readonly transport: () => Transport;
}

/** A server with any transport. */
export type McpServer = McpStdioServer | McpHttpServer | McpTransportServer;

/** A change of a server's tools or connection. */
export interface McpChange {
	/** Name of the server. */
	readonly server: string;
	/** The kind of change. */
	readonly type: "tools-changed" | "connected" | "disconnected" | "approval-needed" | "input-requested";
}

/** Validates the servers' names and kinds. */
export function checkServers(servers: Readonly<Record<string, McpServer>>): void {
	if (typeof servers !== "object" || servers === null || Array.isArray(servers))
		throw new HoldfastTypeError(
			"invalid_option",
			"connectMcp() takes a record of servers by name: `connectMcp({ files: { command, args } })`.",
		);
	for (const name of ["mcpServers", "servers"])
		if (
			Object.hasOwn(servers, name) &&
			!("command" in Object(servers[name])) &&
			!("url" in Object(servers[name]))
		)
			throw new HoldfastTypeError(
				"invalid_option",
				`connectMcp() takes the servers by name, without \`${name}\` around them: \`connectMcp(file.${name})\`.`,
			);
	for (const [name, server] of Object.entries(servers)) {
		if (!/^[a-zA-Z][a-zA-Z0-9_-]{0,31}$/.test(name))
			throw invalidServer(
				name,
				"its name is not a letter followed by at most 31 letters, digits, `_` or `-`",
			);
		const kinds = ["command", "url", "transport"].filter((kind) => Object.hasOwn(server, kind));
		const { needsApproval } = server;
		if (
			needsApproval !== undefined &&
			typeof needsApproval !== "boolean" &&
			typeof needsApproval !== "function"
		)
			throw invalidServer(name, "its `needsApproval` is neither a boolean nor a function");
		if (kinds.length !== 1) throw invalidServer(name, "it needs one of `command`, `url` and `transport`");
		if ("url" in server && !/^https?:$/.test(URL.parse(server.url)?.protocol ?? ""))
			throw invalidServer(name, "its `url` is not an address with http or https");
		for (const limit of ["timeoutMs", "connectTimeoutMs"] as const) {
			const most = limit === "timeoutMs" ? Number.POSITIVE_INFINITY : longestForeignWait;
			const fault = durationFault(server[limit] ?? 1, { most });
			if (fault !== undefined) throw invalidServer(name, `its \`${limit}\` must be ${fault}`);
		}
		const { maxAnswerBytes } = server as Partial<McpHttpServer>;
		if (maxAnswerBytes === undefined) continue;
		if (!("url" in server)) throw invalidServer(name, "`maxAnswerBytes` has no effect without `url`");
		if (!(maxAnswerBytes > 0)) throw invalidServer(name, "its `maxAnswerBytes` is not above 0");
	}
}

function invalidServer(name: string, why: string): HoldfastError {
	return new HoldfastError("invalid_mcp_server", `The MCP server "${name}" cannot be used: ${why}.`, {
		data: { server: name },
	});
}
