// A Hono application with an agent in addition to its own routes. Both use web requests, so one line connects them, on every
// platform that Hono supports.

import { createHandler, sessionService } from "@holdfast/server";
import { scriptedModel } from "@holdfast/testing";
import { serve } from "@hono/node-server";
import { memoryHost } from "holdfast";
import { Hono } from "hono";

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

	const app = new Hono();
	app.all("/api/agent/*", ({ req }) => handler.fetch(req.raw));
	app.get("/", (context) => context.text("The shop is open."));

	const { promise, resolve } = Promise.withResolvers<number>();
	const server = serve({ fetch: app.fetch, port, hostname: "127.0.0.1" }, (info) => resolve(info.port));
	return {
		url: `http://127.0.0.1:${await promise}`,
		async close() {
			handler.drain();
			await service.close({ drainMs: 10_000 }); // runs may finish; the others are left to be resumed
			await handler.close();
			await new Promise((closed) => server.close(closed));
			await host.close();
		},
	};
}

if (import.meta.main) {
	const { url, close } = await start(Number(process.argv[2] ?? 4280));
	console.log(
		`curl -N ${url}/api/agent/execute -H 'x-user: ann' -H 'content-type: application/json' -d '{"input":"Hello"}'`,
	);
	process.once("SIGINT", () => void close());
}
