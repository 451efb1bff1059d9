// A server with an inspector in memory, and short ways to ask it.
import { createHandler, type HandlerOptions, type NamedModels, sessionService } from "@holdfast/server";
import { type Script, scriptedModel } from "@holdfast/testing";
import { type AgentOptions, type AnyTool, type Host, memoryHost } from "holdfast";
import { type InspectorOptions, inspector } from "../inspector.ts";

/** A server, and the ways to ask it. */
export interface Inspected {
	readonly host: Host;
	/** Requests a route; returns its JSON. */
	get(path: string, headers?: Readonly<Record<string, string>>): Promise<Answer>;
	post(path: string, body?: unknown, headers?: Readonly<Record<string, string>>): Promise<Answer>;
	fetch(path: string, init?: RequestInit): Promise<Response>;
	/** Sends a message to a session, and waits for the answer. */
	say(sessionId: string, input: string, headers?: Readonly<Record<string, string>>): Promise<void>;
	close(): Promise<void>;
}

/** An answer. */
export interface Answer {
	readonly status: number;
	// biome-ignore lint/suspicious/noExplicitAny: tests look at what they expect
	readonly body: any;
}

/** Options of the server. */
export interface InspectedOptions {
	readonly agent?: Partial<AgentOptions>;
	readonly tools?: readonly AnyTool[];
	readonly inspector?: InspectorOptions;
	readonly handler?: Partial<HandlerOptions>;
	readonly models?: NamedModels;
	readonly host?: Host;
}

/** Creates an inspector under test. */
export function inspect(script: Script, options: InspectedOptions = {}): Inspected {
	const { agent = {}, tools = [], handler: given = {}, models, host = memoryHost() } = options;
	const service = sessionService({
		host,
		agent: { model: scriptedModel(script, { modelId: "clever-1" }), tools, ...agent },
		deltaFlushMs: 1,
		...(models === undefined ? {} : { models }),
	});
	const handler = createHandler({ service, ...inspector(options.inspector), ...given });
	const fetch: Inspected["fetch"] = (path, init) =>
		handler.fetch(new Request(`http://localhost${path}`, init));
	const answer = async (response: Response): Promise<Answer> => ({
		status: response.status,
		body: await response.json(),
	});
	const send = (path: string, body: unknown, headers: Readonly<Record<string, string>>): Promise<Response> =>
		fetch(path, {
			method: "POST",
			headers: { "content-type": "application/json", ...headers },
			body: JSON.stringify(body),
		});
	return {
		host,
		fetch,
		get: async (path, headers = {}) => answer(await fetch(`/api/inspect/${path}`, { headers })),
		post: async (path, body = {}, headers = {}) => answer(await send(`/api/inspect/${path}`, body, headers)),
		async say(sessionId, input, headers = {}) {
			const response = await send("/api/agent/execute", { sessionId, input, context: {} }, headers);
			const text = await response.text();
			if (response.status !== 200) throw new Error(text);
		},
		async close() {
			await service.close();
			await handler.close();
			await host.close();
		},
	};
}
