// Runs the Worker in Cloudflare's runtime on this machine and sends it messages. The second message continues the session of the
// first one, although the runtime was restarted in between.
import { join } from "node:path";
import { Miniflare } from "miniflare";
import { rolldown } from "rolldown";

const build = await rolldown({
	input: join(import.meta.dirname, "worker.ts"),
	platform: "neutral",
	external: [/^node:/, /^cloudflare:/, "ws"],
	resolve: {
		conditionNames: ["holdfast-source", "workerd", "import", "default"],
		mainFields: ["module", "main"],
	},
});
const { output } = await build.generate({ format: "esm", codeSplitting: false });
await build.close();

const start = (): Miniflare =>
	new Miniflare({
		modules: [{ type: "ESModule", path: "worker.mjs", contents: output[0].code }],
		compatibilityDate: "2026-07-01",
		compatibilityFlags: ["nodejs_compat"],
		bindings: { API_KEY: "a-key" },
		durableObjects: {
			SESSIONS: { className: "Session", useSQLite: true },
			DIRECTORY: { className: "Directory", useSQLite: true },
		},
		durableObjectsPersist: "./objects",
	});

for (const input of ["hello", "and now?"]) {
	const runtime = start();
	const ask = (path: string, body?: object) =>
		runtime.dispatchFetch(`http://localhost/api/agent${path}`, {
			method: body === undefined ? "GET" : "POST",
			headers: { authorization: "Bearer a-key", "content-type": "application/json" },
			...(body === undefined ? {} : { body: JSON.stringify(body) }),
		});
	const answer = await ask("/execute", { sessionId: "desk", context: {}, input });
	await answer.text(); // the stream of the execution, to its end
	const { messages } = (await (await ask("/session/desk")).json()) as { messages: { content: unknown }[] };
	console.log(messages.map(({ content }) => JSON.stringify(content)).join("\n"));
	await runtime.dispose();
	console.log("--");
}
