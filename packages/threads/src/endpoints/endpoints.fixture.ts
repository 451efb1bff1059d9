// Threads behind a server, for tests.
import { createServer, type Server, type ServerOptions } from "@holdfast/server";
import { onTestFinished } from "vitest";
import { start } from "../thread/threads.fixture.ts";
import type { Project } from "../types/index.ts";
import { type ThreadRoutesOptions, threadRoutes } from "./index.ts";

/** What was answered. */
export interface Answer {
	readonly status: number;
	// biome-ignore lint/suspicious/noExplicitAny: whatever was answered
	readonly body: any;
	readonly response: Response;
}

/** Serves the threads of a project until the test is over. */
export function served(
	project: Project,
	{
		server: more = {},
		routes = {},
		...options
	}: Parameters<typeof start>[1] & {
		readonly server?: Partial<ServerOptions>;
		readonly routes?: Partial<ThreadRoutesOptions>;
	} = {},
) {
	const made = start(project, { keepDeltasMs: 1, ...options });
	const errors: unknown[] = [];
	const server: Server = createServer({
		routes: threadRoutes({ threads: made.threads, ...routes }),
		log: (entry) => entry.type === "error" && errors.push(entry),
		...more,
	});
	onTestFinished(async () => {
		await server.close({ drainMs: 0 });
		await made.threads.close();
	});
	const ask = async (
		method: string,
		path: string,
		body?: unknown,
		headers: Readonly<Record<string, string>> = {},
	): Promise<Answer> => {
		const isRaw = typeof body === "string" || body instanceof Uint8Array;
		const response = await server.fetch(
			new Request(`http://localhost${path}`, {
				method,
				headers: {
					...(body === undefined || isRaw ? {} : { "content-type": "application/json" }),
					...headers,
				},
				...(body === undefined ? {} : { body: isRaw ? (body as string) : JSON.stringify(body) }),
			}),
		);
		const isJson = response.headers.get("content-type")?.startsWith("application/json") === true;
		return { status: response.status, response, body: isJson ? await response.clone().json() : undefined };
	};
	/** Makes a thread, and gives its id. */
	const thread = async (body: object = { agent_id: "helper" }): Promise<string> =>
		(await ask("POST", "/api/threads", body)).body.id as string;
	return { ...made, server, ask, thread, errors };
}
