// A handler over the real session service in memory, with a model that follows a script.

import { type Script, type ScriptedModel, scriptedModel } from "@holdfast/testing";
import { type AgentOptions, type AnyTool, type Host, memoryHost } from "holdfast";
import { createHandler, type Handler } from "./handler.ts";
import type { HandlerOptions } from "./options.ts";
import { type SessionService, type SessionServiceOptions, sessionService } from "./service/index.ts";
import { type Received, readSse, type SseReader } from "./sse.fixture.ts";

/** A handler and what it uses. */
export interface Served {
	readonly model: ScriptedModel;
	readonly host: Host;
	readonly service: SessionService;
	readonly handler: Handler;
	post(path: string, body?: unknown, headers?: Readonly<Record<string, string>>): Promise<Response>;
	get(path: string, headers?: Readonly<Record<string, string>>): Promise<Response>;
	/** Executes to the end; gives the events. */
	run(body: unknown, headers?: Readonly<Record<string, string>>): Promise<readonly Received[]>;
	/** Begins an execution; gives its reader. */
	begin(body: unknown, headers?: Readonly<Record<string, string>>): Promise<SseReader>;
	/** The session as JSON. */
	session(id: string, headers?: Readonly<Record<string, string>>): Promise<Session>;
	close(): Promise<void>;
}

/** A session as it is answered. */
export interface Session {
	readonly sessionId: string;
	readonly status: string;
	readonly messages: readonly { readonly role: string; readonly [member: string]: unknown }[];
	readonly totalCost: number;
	readonly pendingToolCalls?: readonly { readonly id: string; readonly name: string }[];
	readonly lastEventId?: string;
}

/** What it is made with. */
export interface ServedOptions extends Partial<Omit<HandlerOptions, "service">> {
	readonly tools?: readonly AnyTool[];
	/** Further options of the agent. */
	readonly agent?: Partial<AgentOptions>;
	/** Default: in memory. */
	readonly host?: Host;
	readonly serving?: Partial<Omit<SessionServiceOptions, "host">>;
}

/** Makes one. */
export function serveScript(
	script: Script,
	{ tools = [], agent = {}, host = memoryHost(), serving = {}, ...options }: ServedOptions = {},
): Served {
	const model = scriptedModel(script);
	const service = sessionService({
		host,
		agent: { model, tools, ...agent },
		deltaFlushMs: 1,
		...serving,
	});
	const handler = createHandler({ service, ...options });
	const served: Served = {
		model,
		host,
		service,
		handler,
		post: (path, body, headers = {}) =>
			handler.fetch(
				new Request(`http://localhost${path}`, {
					method: "POST",
					headers: { "content-type": "application/json", ...headers },
					...(body === undefined ? {} : { body: JSON.stringify(body) }),
				}),
			),
		get: (path, headers = {}) => handler.fetch(new Request(`http://localhost${path}`, { headers })),
		async begin(body, headers) {
			const response = await served.post("/api/agent/execute", body, headers);
			if (response.status !== 200) throw new Error(`It was refused: ${await response.text()}`);
			return readSse(response);
		},
		run: async (body, headers) => (await served.begin(body, headers)).rest(),
		async session(id, headers) {
			return (await (await served.get(`/api/agent/session/${id}`, headers)).json()) as Session;
		},
		async close() {
			await service.close();
			await handler.close();
			await host.close();
		},
	};
	return served;
}

/** A user's message. */
export function say(content: string): { readonly role: "user"; readonly content: string } {
	return { role: "user", content };
}
