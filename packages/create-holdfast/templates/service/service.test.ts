import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { createClient } from "@holdfast/client";
import { startService } from "./service.ts";

const folder = mkdtempSync(join(tmpdir(), "service-"));
const database = join(folder, "sessions.db");
after(() => rmSync(folder, { recursive: true, force: true }));

test("a session continues in the next process", async () => {
	const first = await startService({ database, port: 0 });
	const { sessionId } = await createClient({ url: first.url }).execute({ input: "What is 2 + 3?" }).result();
	await first.close();

	const second = await startService({ database, port: 0 });
	const { messages } = await createClient({ url: second.url }).session(sessionId);
	assert.match(JSON.stringify(messages.at(-1)), /That makes 5\./);
	await second.close();
});

test("with a key, requests without it are rejected", async () => {
	const service = await startService({ database, port: 0, apiKeys: { "a-key-of-a-test": "test" } });
	const local = `http://127.0.0.1:${new URL(service.url).port}`;
	const url = `${local}/api/agent/sessions`;
	assert.equal((await fetch(url)).status, 401);
	assert.equal((await fetch(`${local}/healthz`)).status, 200);
	assert.equal((await fetch(url, { headers: { authorization: "Bearer a-key-of-a-test" } })).status, 200);
	await service.close();
});
