// `connectMcp`: the tools of MCP servers, for agents.
import { checkOptions, HoldfastError, messageOf, optionNames } from "@holdfast/upp";
import { AskedBackDesk, type McpAnswer, type McpRequest } from "./asked-back.ts";
import { checkServers, type McpChange, type McpServer } from "./connect-options.ts";
import { type McpTool, mcpTool, resourceTool, resourceToolName } from "./mcp-tool.ts";
import { OfferedTools, type UnapprovedTool } from "./offered-tools.ts";
import { type LinkStatus, ServerLink } from "./server-link.ts";
import { memoryApprovals, type ToolApprovals } from "./tool-approvals.ts";
import { nameTools } from "./tool-names.ts";

const mcpNames = optionNames<McpOptions>({
	approvals: "object",
	approve: ["first-seen", "explicit"],
	reserved: "list",
	prefix: ["clash", "always"],
	allow: "object",
	onChange: "function",
	onWarning: "function",
});

/** Options for all servers. */
export interface McpOptions {
	/** The store of approved tool definitions. Default: in memory. */
	readonly approvals?: ToolApprovals;
	/**
	 * Whether a new tool counts as approved ("first-seen", the default) or is offered only after `approve` was called
	 * ("explicit"). In both cases, a definition that changed afterwards is refused until it is approved again.
	 */
	readonly approve?: "first-seen" | "explicit";
	/** Names of your own tools: a server's tool with such a name gets a prefix. Default: none. */
	readonly reserved?: readonly string[];
	/** Whether names are always prefixed with the server's ("always") or only if they clash ("clash", the default). */
	readonly prefix?: "clash" | "always";
	/**
	 * Which requests servers may send during a call: for input of the user (elicitation), and for an answer of a model
	 * (sampling). Each request waits in `requests()` until you call `answer()`. Default: none.
	 */
	readonly allow?: { readonly elicitation?: boolean; readonly sampling?: boolean };
	/** Called when tools, connections or requests change, with the result of `connectMcp`. Must not throw. */
	readonly onChange?: (change: McpChange, mcp: McpServers) => void;
	/**
	 * Receives warnings, for example about a tool whose schema cannot be used. Default: warnings of the process. Must not
	 * throw.
	 */
	readonly onWarning?: (warning: HoldfastError) => void;
}

/** The state of a server. */
export interface McpServerStatus {
	/** The server's name in the record passed to `connectMcp`. */
	readonly name: string;
	/** The state of the connection. */
	readonly status: LinkStatus;
	/** The protocol revision in use, while connected. */
	readonly protocolVersion?: string;
	/** Names of all approved tools that the server offers, as the server names them. */
	readonly tools: readonly string[];
}

interface Connected {
	readonly link: ServerLink;
	readonly offered: OfferedTools;
	readonly server: McpServer;
}

/** Connected MCP servers. They stay connected until `close`; the next call reopens a lost connection. */
export class McpServers implements AsyncDisposable {
	readonly #servers = new Map<string, Connected>();
	readonly #desk = new AskedBackDesk();
	readonly #options: McpOptions;
	readonly #warned = new Set<string>();

	/** @internal Created by `connectMcp`. */
	constructor(servers: Readonly<Record<string, McpServer>>, options: McpOptions) {
		checkOptions(options, mcpNames, { of: "connectMcp()" });
		checkServers(servers);
		this.#options = options;
		const { approvals = memoryApprovals(), approve = "first-seen", allow = {} } = options;
		const { elicitation = false, sampling = false } = allow;
		for (const [name, server] of Object.entries(servers)) {
			const offered = new OfferedTools(name, approvals, approve, server.tools);
			const link = new ServerLink(
				name,
				server,
				{
					listed: async (tools) => {
						if (await offered.list(tools)) this.#changed({ server: name, type: "tools-changed" });
						if (offered.unapproved().length > 0) this.#changed({ server: name, type: "approval-needed" });
					},
					leftOut: (tool, reason) => this.#warn(name, tool, reason),
					listFailed: (cause) => this.#warnOfList(name, cause),
					changed: (type) => this.#changed({ server: name, type }),
				},
				{ desk: this.#desk, elicitation, sampling },
			);
			this.#servers.set(name, { link, offered, server });
		}
	}

	/** @internal Connects to all servers; rejects with the error of the first required one that fails. */
	async connect(): Promise<void> {
		const connecting = [...this.#servers.values()].map(async ({ link, server }) => {
			try {
				await link.connect();
			} catch (error) {
				const isWaiting = (error as HoldfastError).code === "mcp_unauthorized" && hasUser(server);
				if (server.optional !== true && !isWaiting) throw error;
			}
		});
		const ends = await Promise.allSettled(connecting);
		const failed = ends.find((end) => end.status === "rejected");
		if (failed === undefined) return;
		await this.close();
		throw failed.reason;
	}

	/**
	 * Returns the currently approved tools of all servers, for `tools` of an agent. An agent keeps the tools it was
	 * given: when the list changes (`onChange`), pass the new ones to a new agent.
	 */
	tools(): readonly McpTool[] {
		const listed = [...this.#servers.values()].flatMap(({ link, offered, server }) => {
			const tools = offered.approved().map((definition) => ({
				server: link.name,
				name: definition.name,
				make: (name: string) => mcpTool(name, definition, link, offered, server),
			}));
			if (server.resources !== true || link.hasResources !== true) return tools;
			const make = (name: string) => resourceTool(name, link, server);
			return [...tools, { server: link.name, name: resourceToolName, make }];
		});
		const names = nameTools(listed, this.#options);
		return listed.flatMap(({ server, name, make }, index) => {
			try {
				return [make(names[index] as string)];
			} catch (error) {
				this.#warn(server, name, error);
				return [];
			}
		});
	}

	/** Returns the state of each server. */
	servers(): readonly McpServerStatus[] {
		return [...this.#servers.values()].map(({ link, offered }) => ({
			name: link.name,
			status: link.status,
			...(link.protocolVersion === undefined ? {} : { protocolVersion: link.protocolVersion }),
			tools: offered.approved().map(({ name }) => name),
		}));
	}

	/** Returns the tools that are not offered until you approve them: new ones, and those that have changed since. */
	unapproved(): readonly UnapprovedTool[] {
		return [...this.#servers.values()].flatMap(({ offered }) => offered.unapproved());
	}

	/**
	 * Approves a tool with its current definition; agents that have the tool may call it again. Rejects with
	 * `unknown_mcp_server`, `mcp_tool_gone`.
	 */
	async approve(server: string, toolName: string): Promise<void> {
		await this.#named(server).offered.approve(toolName);
	}

	/**
	 * Lists the tools of all servers again, and connects to those that are not connected. Rejects with the first error.
	 */
	async refresh(): Promise<void> {
		await Promise.all([...this.#servers.values()].map(({ link }) => link.refresh()));
	}

	/** Returns the open requests of servers, oldest first. */
	requests(): readonly McpRequest[] {
		return this.#desk.list();
	}

	/** Answers a request. @throws HoldfastError `unknown_mcp_request` if it is not open. */
	answer(requestId: string, answer: McpAnswer): void {
		this.#desk.answer(requestId, answer);
	}

	/**
	 * Completes the authorisation of a server with the callback parameters of the user's browser, and connects. Compare
	 * their `state` with yours first. Rejects with `unknown_mcp_server`, `mcp_no_authorization`, and the errors of
	 * connecting.
	 */
	async finishAuth(server: string, callback: URLSearchParams): Promise<void> {
		await this.#named(server).link.finishAuth(callback);
	}

	/** Cancels calls in flight, closes all connections, and ends the programs that were started for them. */
	async close(): Promise<void> {
		this.#desk.close();
		await Promise.all([...this.#servers.values()].map(({ link }) => link.close()));
	}

	async [Symbol.asyncDispose](): Promise<void> {
		await this.close();
	}

	#named(name: string): Connected {
		const found = this.#servers.get(name);
		if (found !== undefined) return found;
		const known = [...this.#servers.keys()].join(", ");
		throw new HoldfastError(
			"unknown_mcp_server",
			`There is no MCP server "${name}". ${known === "" ? "None is configured." : `Known: ${known}.`}`,
			{ data: { server: name } },
		);
	}

	#changed(change: McpChange): void {
		this.#options.onChange?.(change, this);
	}

	/** Warns once for each tool and reason. */
	#warn(server: string, name: string, cause: unknown): void {
		const why = messageOf(cause);
		const text = `The tool "${name}" of the MCP server "${server}" is omitted: ${why}`;
		if (this.#warned.has(text)) return;
		this.#warned.add(text);
		this.#send(new HoldfastError("mcp_tool_unusable", text, { cause, data: { server, tool: name } }));
	}

	#warnOfList(server: string, cause: unknown): void {
		const text = `The MCP server "${server}" changed its tools, and its list cannot be read: ${messageOf(cause)}. The tools stay as they were; call \`refresh()\` to try again.`;
		this.#send(new HoldfastError("mcp_list_failed", text, { cause, retryable: true, data: { server } }));
	}

	#send(warning: HoldfastError): void {
		const { onWarning = (each: HoldfastError) => process.emitWarning(each.message, { code: each.code }) } =
			this.#options;
		onWarning(warning);
	}
}

/** Whether a user can sign in now. */
function hasUser(server: McpServer): boolean {
	return "url" in server && server.auth !== undefined && "redirectToAuthorization" in server.auth;
}

/**
 * Connects to MCP servers, by name, and lists their tools.
 *
 * Rejects with `invalid_mcp_server`, `mcp_connect_failed`, `mcp_unauthorized`, `invalid_mcp_approvals`. A server with an
 * OAuth client whose user has to sign in first is not an error: its status is `unauthorized` until `finishAuth`.
 *
 * @example
 * import { openai } from "@ai-sdk/openai";
 * import { agent } from "holdfast";
 *
 * await using mcp = await connectMcp({ files: { command: "mcp-files", args: ["/srv"], optional: true } });
 * const clerk = agent({ model: openai("gpt-5.2"), tools: mcp.tools() });
 * console.log(clerk.id);
 */
export async function connectMcp(
	servers: Readonly<Record<string, McpServer>>,
	options: McpOptions = {},
): Promise<McpServers> {
	const mcp = new McpServers(servers, options);
	await mcp.connect();
	return mcp;
}
