// One server: its connection, the list of its tools, and its running calls.
//
// A link is idle until `connect`, then connecting, connected or disconnected; `close` ends it permanently. The next call
// or `refresh` reopens a lost connection. Connecting is shared: two calls at once open one connection.

import { Readable } from "node:stream";
import { HoldfastError, messageOf } from "@holdfast/upp";
import {
	type CallToolResult,
	type Client,
	type ListResourcesResult,
	type ReadResourceResult,
	StreamableHTTPClientTransport,
	type Tool,
	type Transport,
} from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import type { AgentOptions, ToolContext } from "holdfast";
import { idempotencyKeyMember } from "../idempotency-key.ts";
import type { AskedBackDesk, CallUnderWay } from "./asked-back.ts";
import type { McpServer } from "./connect-options.ts";
import { isUnauthorized, lossOf } from "./connection-errors.ts";
import { handleAsking } from "./handle-asking.ts";
import { LastLines } from "./last-lines.ts";
import { newClient, newTransport } from "./new-connection.ts";
import { repairing } from "./repair-transport.ts";
import { notInTime, silentInCall, type Watch, whileHeard, within } from "./while-heard.ts";

/** The state of a connection. `unauthorized`: the server requires authorization. */
export type LinkStatus = "idle" | "connecting" | "connected" | "disconnected" | "unauthorized" | "closed";

/** The notifications of a link to its owner. */
export interface LinkListener {
	listed(tools: readonly Tool[]): Promise<void>;
	/** A tool of the list cannot be used. */
	leftOut(tool: string, reason: string): void;
	/** The list changed but could not be read. */
	listFailed(error: unknown): void;
	changed(type: "connected" | "disconnected" | "input-requested"): void;
}

/** Which requests servers may send. */
export interface LinkAllowance {
	readonly desk: AskedBackDesk;
	readonly elicitation: boolean;
	readonly sampling: boolean;
}

/** A tool call at the server. */
export interface ServerCall extends ServerUse {
	readonly tool: Tool;
	readonly params: Record<string, unknown>;
}

/** A request to the server. */
export interface ServerUse {
	readonly context: ToolContext;
	/** Whether a call may be repeated if the connection broke during it. */
	readonly again: boolean;
}

// The longest delay of a timer. The official client has a limit of one minute, which keeps running while a user is asked.
const noLimit = 2 ** 31 - 1;
/** Milliseconds without an answer or progress after which a call is abandoned. */
const defaultSilenceMs = 600_000;
const defaultConnectMs = 60_000;
const relistenAfterMs = [1000, 2000, 5000, 10_000, 30_000];
const attempts = 3;

function withoutOutput({ outputSchema: _, ...tool }: Tool): Tool {
	return tool;
}

export class ServerLink {
	readonly name: string;
	readonly #server: McpServer;
	readonly #listener: LinkListener;
	readonly #allowance: LinkAllowance;
	readonly #underWay = new Map<ToolContext, CallUnderWay>();
	#connecting: Promise<Client> | undefined;
	#client: Client | undefined;
	#transport: Transport | undefined;
	#output = new LastLines();
	#status: LinkStatus = "idle";
	#listing: Promise<void> = Promise.resolve();
	#timer: NodeJS.Timeout | undefined;

	constructor(name: string, server: McpServer, listener: LinkListener, allowance: LinkAllowance) {
		this.name = name;
		this.#server = server;
		this.#listener = listener;
		this.#allowance = allowance;
	}

	get status(): LinkStatus {
		return this.#status;
	}

	/** The protocol revision in use; undefined while not connected. */
	get protocolVersion(): string | undefined {
		return this.#client?.getNegotiatedProtocolVersion();
	}

	/**
	 * Returns the connected client of the official package. Rejects with `mcp_connect_failed`, `mcp_unauthorized`,
	 * `mcp_closed`.
	 */
	connect(): Promise<Client> {
		if (this.#status === "closed") return Promise.reject(this.#closed());
		if (this.#client !== undefined) return Promise.resolve(this.#client);
		this.#connecting ??= this.#connect().finally(() => {
			this.#connecting = undefined;
		});
		return this.#connecting;
	}

	/** Lists the server's tools again. */
	async refresh(): Promise<void> {
		const before = this.#client;
		const client = await this.connect();
		if (client === before) await this.#list(client);
	}

	/** Passes on the callback parameters from the authorisation server, and connects. */
	async finishAuth(callback: URLSearchParams): Promise<void> {
		const transport = this.#transport;
		if (!(transport instanceof StreamableHTTPClientTransport)) {
			throw new HoldfastError(
				"mcp_no_authorization",
				`The MCP server "${this.name}" is not waiting for authorisation. Connect to it first; it needs \`url\` and \`auth\`.`,
				{ data: { server: this.name } },
			);
		}
		await transport.finishAuth(callback);
		await this.connect();
	}

	/** Calls a tool. Rejects with the errors of `connect`, `mcp_connection_lost`, and the server's own errors. */
	call(call: ServerCall): Promise<CallToolResult> {
		const { context, again, tool } = call;
		return this.#do(tool.name, { context, again }, (client) => this.#call(client, call));
	}

	/** Reads a resource. Rejects like `call`. */
	read(uri: string, use: ServerUse): Promise<ReadResourceResult> {
		return this.#do(uri, use, (client) =>
			this.#whileHeard(uri, use, ({ signal }) => client.readResource({ uri }, { signal, timeout: noLimit })),
		);
	}

	/** Lists the available resources. Rejects like `call`. */
	resources(use: ServerUse): Promise<ListResourcesResult> {
		return this.#do("resources", use, (client) =>
			this.#whileHeard("resources", use, ({ signal }) =>
				client.listResources(undefined, { signal, timeout: noLimit }),
			),
		);
	}

	/** Whether the server has resources; undefined while not connected. */
	get hasResources(): boolean | undefined {
		return this.#client && this.#client.getServerCapabilities()?.resources !== undefined;
	}

	/** Makes a request that is abandoned if the server is silent for too long. */
	#whileHeard<Value>(
		what: string,
		{ context: { signal }, again }: ServerUse,
		request: (watch: Watch) => Promise<Value>,
	): Promise<Value> {
		const { timeoutMs = defaultSilenceMs } = this.#server;
		const { desk } = this.#allowance;
		return whileHeard(
			{
				silenceMs: timeoutMs,
				signal,
				isAsking: () => desk.list().some(({ server }) => server === this.name),
				silent: () => silentInCall(this.name, what, timeoutMs, again),
			},
			request,
		);
	}

	async #do<Value>(
		what: string,
		{ context, again }: ServerUse,
		act: (client: Client) => Promise<Value>,
	): Promise<Value> {
		for (let attempt = 1; ; attempt++) {
			const client = await this.connect();
			try {
				return await act(client);
			} catch (error) {
				const loss = lossOf(error);
				if (loss === undefined || context.signal.aborted) throw error;
				const output = this.#output;
				await this.#drop(client);
				if (attempt < attempts && (loss === "never-arrived" || again)) continue;
				throw new HoldfastError(
					"mcp_connection_lost",
					`The connection to the MCP server "${this.name}" broke while it ran "${what}". ` +
						`It may or may not have had its effect. It was not called again; find out before you repeat it.${output.said}`,
					{ cause: error, data: { server: this.name, tool: what } },
				);
			}
		}
	}

	async close(): Promise<void> {
		if (this.#status === "closed") return;
		this.#status = "closed";
		clearTimeout(this.#timer);
		const connecting = this.#connecting;
		await this.#client?.close().catch(() => {});
		await connecting?.then(
			(client) => client.close(),
			() => {},
		);
		this.#client = undefined;
	}

	/** Returns the model of a call in progress, for the server's sampling requests. */
	#model(): AgentOptions["model"] | undefined {
		return [...this.#underWay.keys()].at(-1)?.parentModel;
	}

	async #call(client: Client, call: ServerCall): Promise<CallToolResult> {
		const { tool, params, context } = call;
		const { toolCallId, sessionKey, runId } = context;
		this.#underWay.set(context, {
			toolCallId,
			toolName: context.toolName,
			...(sessionKey === undefined ? {} : { sessionKey }),
			runId,
		});
		try {
			return await this.#whileHeard(tool.name, call, ({ signal, heard, giveUp }) =>
				client.callTool(
					{
						name: tool.name,
						arguments: params,
						_meta: { [idempotencyKeyMember]: context.idempotencyKey },
					},
					{
						signal,
						timeout: noLimit,
						// The model can judge whether a result has the data that its server promised.
						toolDefinition: withoutOutput(tool),
						onprogress: ({ progress, total, message }) => {
							heard();
							const count = total === undefined ? `${progress}` : `${progress}/${total}`;
							try {
								context.emit(message === undefined ? `${count}\n` : `${count} ${message}\n`);
							} catch (error) {
								giveUp(error); // the official client swallows errors that a listener throws
							}
						},
					},
				),
			);
		} finally {
			this.#underWay.delete(context);
			this.#allowance.desk.callsOver(this.name, [...this.#underWay.values()]);
		}
	}

	async #connect(): Promise<Client> {
		this.#status = "connecting";
		const { desk, ...allowance } = this.#allowance;
		const client = newClient(this.#server, allowance, () => this.#listAgain(client));
		handleAsking(client, {
			server: this.name,
			desk,
			...allowance,
			model: () => this.#model(),
			calls: () => [...this.#underWay.values()],
			changed: () => this.#listener.changed("input-requested"),
		});
		const transport = repairing(newTransport(this.#server), (tool, reason) =>
			this.#listener.leftOut(tool, reason),
		);
		this.#transport = transport;
		this.#output = new LastLines();
		if (transport instanceof StdioClientTransport && transport.stderr instanceof Readable)
			this.#output.follow(transport.stderr);
		try {
			const { connectTimeoutMs: timeout = defaultConnectMs } = this.#server;
			// Detecting the protocol version may take as long as connecting.
			await within(2 * timeout, client.connect(transport, { timeout }), () =>
				notInTime(this.name, 2 * timeout),
			);
			if ((this.#status as LinkStatus) === "closed") throw this.#closed();
			await this.#list(client);
		} catch (error) {
			await client.close().catch(() => {});
			if ((this.#status as LinkStatus) === "closed") throw this.#closed();
			this.#status = isUnauthorized(error) ? "unauthorized" : "disconnected";
			throw this.#connectFailed(error);
		}
		client.onclose = () => void this.#drop(client);
		this.#client = client;
		this.#status = "connected";
		this.#listener.changed("connected");
		this.#watchSubscription(client, 0);
		return client;
	}

	/** Lists one at a time: the last list to start is the last one to be reported. */
	#list(client: Client): Promise<void> {
		const listing = this.#listing.then(async () => {
			const { connectTimeoutMs: timeout = defaultConnectMs } = this.#server;
			// Each page may arrive in time while all of them together do not.
			const listed = client.listTools(undefined, { timeout, cacheMode: "refresh" });
			const { tools } = await within(timeout, listed, () => notInTime(this.name, timeout));
			await this.#listener.listed(tools);
		});
		this.#listing = listing.catch(() => {});
		return listing;
	}

	#listAgain(client: Client): void {
		if (this.#client !== client) return;
		this.#list(client).catch((error) => {
			// A lost connection is detected separately.
			if (lossOf(error) === undefined) this.#listener.listFailed(error);
		});
	}

	/**
	 * With the newer protocol version, changes arrive on a separate stream, which a server or a proxy may end at any
	 * time.
	 */
	#watchSubscription(client: Client, tries: number): void {
		const subscription = client.autoOpenedSubscription;
		if (subscription === undefined) return;
		subscription.closed.then((why) => {
			if (why !== "local") this.#relisten(client, tries);
		});
	}

	#relisten(client: Client, tries: number): void {
		if (this.#client !== client) return;
		const delay = relistenAfterMs[Math.min(tries, relistenAfterMs.length - 1)];
		this.#timer = setTimeout(async () => {
			if (this.#client !== client) return;
			try {
				const { closed } = await client.listen({ toolsListChanged: true });
				closed.then((why) => {
					if (why !== "local") this.#relisten(client, 0);
				});
				await this.#list(client);
			} catch {
				this.#relisten(client, tries + 1);
			}
		}, delay);
		this.#timer.unref();
	}

	/** Discards a lost connection. */
	async #drop(client: Client): Promise<void> {
		if (this.#client !== client) return;
		this.#client = undefined;
		clearTimeout(this.#timer);
		if (this.#status !== "closed") {
			this.#status = "disconnected";
			this.#allowance.desk.close(this.name);
			this.#listener.changed("disconnected");
		}
		await client.close().catch(() => {});
	}

	#closed(): HoldfastError {
		return new HoldfastError(
			"mcp_closed",
			`The MCP servers were closed, including "${this.name}". Connect again with \`connectMcp\`.`,
			{ data: { server: this.name } },
		);
	}

	#connectFailed(error: unknown): HoldfastError {
		const data = { server: this.name };
		if (isUnauthorized(error)) {
			return new HoldfastError(
				"mcp_unauthorized",
				`The MCP server "${this.name}" requires authorisation. Give \`auth\`, or let the user sign in and call \`finishAuth\` with the returned code.`,
				{ cause: error, data },
			);
		}
		const why = messageOf(error);
		return new HoldfastError(
			"mcp_connect_failed",
			`The MCP server "${this.name}" cannot be used: ${why}${this.#output.said}`,
			{
				cause: error,
				retryable: true,
				data,
			},
		);
	}
}
