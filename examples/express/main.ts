// An Express application with an agent in addition to its own routes: Holdfast's handler answers the agent's requests, and
// Express answers the others.

import { createHandler, sessionService } from "@holdfast/server";
import { scriptedModel } from "@holdfast/testing";
import { getRequestListener } from "@hono/node-server";
import express from "express";
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

	const app = express();
	// Mount it before express.json(): the handler reads request bodies itself.
	app.use("/api/agent", (request, response) => {
		request.url = request.originalUrl;
		void getRequestListener((given) => handler.fetch(given, { address: request.ip }))(request, response);
	});
	app.use(express.json());
	app.get("/", (_, response) => void response.send("The shop is open."));

	const server = app.listen(port, "127.0.0.1");
	await new Promise((resolve) => server.once("listening", resolve));
	const address = server.address();
	return {
		url: `http://127.0.0.1:${typeof address === "object" ? address?.port : port}`,
		async close() {
			handler.drain();
			await service.close({ drainMs: 10_000 }); // runs may finish; the others are left to be resumed
			await handler.close();
			await new Promise((resolve) => server.close(resolve));
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
