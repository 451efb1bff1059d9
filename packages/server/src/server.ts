// A server: a handler, the address it listens on, and how both shut down without losing anything.
import { type OptionKind, readDuration } from "@holdfast/upp";
import { HoldfastError } from "holdfast";
import { isLoopback } from "./access/index.ts";
import { createHandler, type Handler } from "./handler.ts";
import type { ListenOptions, NodeListener } from "./node-listener.ts";
import { type HandlerOptions, handlerOptions, refuseUnknown } from "./options.ts";
import { makeService, type ServedAgent, servedAgentOptions } from "./own-service.ts";
import { noSessions, type SessionService } from "./service/index.ts";

/** Options of `createServer`. */
export type ServerOptions = HandlerOptions;

/** Options for closing a server. */
export interface CloseOptions {
	/**
	 * Milliseconds that pending runs get to finish. A higher value lets more of them finish; the others stay resumable
	 * and resume when a server is started again. Default 10,000.
	 */
	readonly drainMs?: number;
}

/** The address a server listens on. */
export interface Listening {
	/** The port, also if 0 was requested. */
	readonly port: number;
	/** `http://127.0.0.1:4280` */
	readonly url: string;
}

/** A server. */
export interface Server {
	/** Answers one request from any source. */
	readonly fetch: Handler["fetch"];
	/**
	 * Listens on Node, and resumes the runs that an earlier process left.
	 * @throws HoldfastError `invalid_option`; `unauthenticated_address` if other machines could reach the address and
	 * callers are not authenticated; `address_unavailable` if the address cannot be used.
	 */
	listen(options?: ListenOptions): Promise<Listening>;
	/**
	 * Refuses new POSTs, lets runs finish for a while, ends the streams and stops listening. Sessions are unchanged. A
	 * second call waits for the first.
	 */
	close(options?: CloseOptions): Promise<void>;
}

/** The names of the close options. */
const closeOptions: Readonly<Record<keyof CloseOptions, true>> = { drainMs: true };

/** The names of the listen options. */
const listenOptions: Readonly<Record<keyof ListenOptions, OptionKind>> = {
	port: "number",
	hostname: "text",
	maxConnections: "number",
};

/** Milliseconds that connections may take to send the remaining data. */
const graceMs = 2_000;

/**
 * Creates a server over a session service.
 * @throws HoldfastError `invalid_option`, `conflicting_options`.
 */
export function createServer(options: ServerOptions): Server {
	const { service = noSessions } = options;
	const handler = createHandler(options);
	const listeners: NodeListener[] = [];
	let closing: Promise<void> | undefined;
	const close = async ({ drainMs }: CloseOptions): Promise<void> => {
		const patience = readDuration("drainMs", drainMs, 10_000, { least: 0, most: Number.POSITIVE_INFINITY });
		handler.drain();
		await service.close({ drainMs: patience });
		await handler.close(graceMs);
		await Promise.all(listeners.map((listener) => listener.close(graceMs)));
	};
	return {
		fetch: handler.fetch,
		async listen(where = {}) {
			refuseUnknown(where, listenOptions);
			const hostname = where.hostname ?? "127.0.0.1";
			if (!handler.isAuthenticated && options.allowUnauthenticated !== true && !isLoopback(hostname))
				throw new HoldfastError(
					"unauthenticated_address",
					`Others can reach ${hostname}, and callers are not authenticated. Give \`apiKeys\` or \`authenticate\`, listen on 127.0.0.1, or set \`allowUnauthenticated\` if a proxy authenticates.`,
				);
			const { listenOnNode } = await import("./node-listener.ts");
			// First the address: if it is taken, another server may be working on the same sessions.
			const listener = await listenOnNode(handler.fetch, { ...where, hostname });
			listeners.push(listener);
			await service.supervise();
			const name = hostname.includes(":") ? `[${hostname}]` : hostname;
			return { port: listener.port, url: `http://${name}:${listener.port}` };
		},
		close(how = {}) {
			refuseUnknown(how, closeOptions);
			closing ??= close(how);
			return closing;
		},
	};
}

/** Options of `listen`: a service, or the agent to create one from. */
export type ListeningServerOptions = ListenOptions &
	Omit<HandlerOptions, "service"> &
	(
		| ({ readonly service?: never } & ServedAgent)
		| { readonly service: SessionService; readonly agent?: never }
	);

/**
 * Creates a server and listens on Node. Given an agent, it creates the session service too: over the given host, else
 * over the agent's, otherwise over a database file.
 *
 * @throws HoldfastError `invalid_option`, `conflicting_options`, `unauthenticated_address`, `address_unavailable`; the
 * errors of `sessionService` for the agent, and those of the host for its file.
 * @example
 * ```ts
 * import { openai } from "@ai-sdk/openai";
 *
 * const server = await listen({ agent: { model: openai("gpt-5.2") }, port: 0 });
 * console.log(server.url);
 * await server.close();
 * ```
 */
export async function listen(options: ListeningServerOptions): Promise<Listening & Server> {
	refuseUnknown(options, { ...handlerOptions, ...servedAgentOptions, ...listenOptions });
	const [ofService] =
		Object.entries(options).find(
			([name, value]) => value !== undefined && Object.hasOwn(servedAgentOptions, name),
		) ?? [];
	if (options.service !== undefined && ofService !== undefined)
		throw new HoldfastError(
			"conflicting_options",
			`\`${ofService}\` has no effect next to \`service\`. Give it to \`sessionService()\`.`,
		);
	const { service, closeHost } =
		options.service === undefined
			? await makeService(options)
			: { service: options.service, closeHost: async () => {} };
	let server: Server | undefined;
	try {
		server = createServer({ ...only(handlerOptions, options), service });
		const { close } = server;
		return {
			...server,
			...(await server.listen(only(listenOptions, options))),
			async close(how) {
				await close(how);
				await closeHost();
			},
		};
	} catch (error) {
		await server?.close({ drainMs: 0 });
		await closeHost();
		throw error;
	}
}

/** Returns the options with these names. */
function only<Given extends object, Name extends keyof Given>(
	names: Readonly<Record<Name, OptionKind>>,
	options: Given,
): Pick<Given, Name> {
	const entries = Object.entries(options).filter(([name]) => Object.hasOwn(names, name));
	return Object.fromEntries(entries) as Pick<Given, Name>;
}
