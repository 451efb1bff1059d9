// The options of `mcpServer`, validated on entry.

import type { Authenticate, ServedCaller, SessionService } from "@holdfast/server";
import { HoldfastError } from "@holdfast/upp";

/** An agent as a tool. */
export interface AgentTool {
	/** Explains to the model of the client when to use it. */
	readonly description: string;
	/** The display name. */
	readonly title?: string;
}

/** Options of `mcpServer`. */
export interface McpServerOptions {
	/** The session service in which calls run, from `sessionService()` of `@holdfast/server`. */
	readonly service: SessionService;
	/**
	 * The offered tools, by name. Every call starts a session whose id starts with `mcp.NAME.`: the service's option
	 * `agentFor` derives the agent from it (`toolOfSession`).
	 */
	readonly tools: Readonly<Record<string, AgentTool>>;
	/** Name of the server. Default "holdfast". */
	readonly name?: string;
	/** Version of the server. Default "1.0.0". */
	readonly version?: string;
	/** Instructions that clients receive when they connect. Default: none. */
	readonly instructions?: string;
	/** Identifies the caller over HTTP; undefined refuses the request. Default: callers on loopback are accepted. */
	readonly authenticate?: Authenticate;
	/** The owner of the sessions of unauthenticated requests and of stdio. Default `{ tenant: "local" }`. */
	readonly caller?: ServedCaller;
	/** Whether calls may run as tasks, which survive a restart and a broken connection. Default true. */
	readonly tasks?: boolean;
	/** Milliseconds between two polls of a task, as a hint to clients. Default 1,000. */
	readonly pollEveryMs?: number;
	/**
	 * Milliseconds within which a disconnected client may return for a call with an idempotency key. After that, the
	 * run is stopped: over HTTP, a client that cancels looks like one whose connection broke. Without a key, the run is
	 * stopped at once. Default 30,000.
	 */
	readonly resendMs?: number;
	/** Receives errors that belong to no call. Must not throw. Default: none. */
	readonly onError?: (error: Error) => void;
}

/** @throws HoldfastError `invalid_mcp_tool`. */
export function checkTools(tools: Readonly<Record<string, AgentTool>>): void {
	for (const [name, { description }] of Object.entries(tools)) {
		const why = !/^[a-zA-Z_][a-zA-Z0-9_-]{0,63}$/.test(name)
			? "its name is not a letter followed by at most 63 letters, digits, `_` or `-`"
			: typeof description !== "string" || description === ""
				? "it has no description, which a model needs to choose it"
				: undefined;
		if (why === undefined) continue;
		throw new HoldfastError("invalid_mcp_tool", `The tool "${name}" cannot be offered over MCP: ${why}.`, {
			data: { tool: name },
		});
	}
}
