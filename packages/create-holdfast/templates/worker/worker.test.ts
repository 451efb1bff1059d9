// The Worker in the real runtime, configured by wrangler.jsonc; its objects are removed after the test.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { unstable_startWorker } from "wrangler";

let worker: Awaited<ReturnType<typeof unstable_startWorker>>;
before(async () => {
	worker = await unstable_startWorker({
		config: "wrangler.jsonc",
		bindings: { API_KEY: { type: "plain_text", value: "a-key-of-a-test" } },
		dev: { server: { port: 0 }, inspector: false, persist: false, logLevel: "error" },
	});
});
after(() => worker.dispose());

function call(path: string, body?: unknown): Promise<Response> {
	return worker.fetch(`http://localhost${path}`, {
		headers: { authorization: "Bearer a-key-of-a-test", "content-type": "application/json" },
		...(body === undefined ? {} : { method: "POST", body: JSON.stringify(body) }),
	}) as unknown as Promise<Response>;
}

test("a session answers and remembers", async () => {
	const asked = await call("/api/agent/execute", { input: "What is 2 + 3?" });
	const sessionId = asked.headers.get("x-session-id");
	assert.match(await asked.text(), /That makes 5\./);
	const session = await (await call(`/api/agent/session/${sessionId}`)).text();
	assert.match(session, /What is 2 \+ 3\?/);
});

test("requests without the key are rejected", async () => {
	assert.equal((await worker.fetch("http://localhost/api/agent/sessions")).status, 401);
});
