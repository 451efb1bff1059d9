// A Fastify application with an agent in addition to its own routes: a plugin passes the agent's requests to Holdfast's handler
// and leaves their bodies unread.

import { createHandler, sessionService } from "@holdfast/server";
import { scriptedModel } from "@holdfast/testing";
import { getRequestListener } from "@hono/node-server";
import { fastify } from "fastify";
import { memoryHost } from "holdfast";

/** Starts the application; port 0 selects a free port. */
export async function start(port: number): Promise<{ readonly url: string; close(): Promise<void> }> {
	const host = memoryHost(); // sqliteHost("./app.db") of "holdfast/sqlite", and sessions survive
	// A rule in place of a language model. Put `openai("gpt-5.2")` of "@ai-sdk/openai" here.
	const model = scriptedModel(({ messages }) => `You said: ${messages.at(-1)?.text}`);
	const service = sessionService({ host, agent: { model } });
	await service.supervise(); // what an earlier process left
	const handler = createHandler({
		service,
		// Return the user that your application has authenticated. This example trusts a header that a proxy sets.
		authenticate: ({ headers }) => {
			const user = headers.get("x-user");
			return user === null ? undefined : { tenant: "shop", user };
		},
	});

	const app = fastify({ forceCloseConnections: true });
	await app.register(async (agents) => {
		agents.removeAllContentTypeParsers();
		agents.addContentTypeParser("*", (_request, _body, done) => done(null));
		agents.all("/api/agent/*", (request, reply) => {
			reply.hijack();
			const answer = getRequestListener((given) => handler.fetch(given, { address: request.ip }));
			void answer(request.raw, reply.raw);
		});
	});
	app.get("/", async () => "The shop is open.");
	app.addHook("preClose", async () => {
		handler.drain();
		await service.close({ drainMs: 10_000 }); // runs may finish; the others are left to be resumed
		await handler.close();
		await host.close();
	});
	return { url: await app.listen({ port, host: "127.0.0.1" }), close: () => app.close() };
}

if (import.meta.main) {
	const { url, close } = await start(Number(process.argv[2] ?? 4280));
	console.log(
		`curl -N ${url}/api/agent/execute -H 'x-user: ann' -H 'content-type: application/json' -d '{"input":"Hello"}'`,
	);
	process.once("SIGINT", () => void close());
}
