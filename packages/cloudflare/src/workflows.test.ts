// A workflow in an object of the real runtime, evicted while it waits.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { bundleWorker, startWorkerd } from "./workerd.fixture.ts";

interface ServedSession {
	readonly status: string;
	readonly messages: unknown;
	readonly workflowState?: unknown;
}

test("a workflow's steps, models, children, events and rounds survive the eviction of its object", async () => {
	const persist = mkdtempSync(join(tmpdir(), "workflows-"));
	const script = await bundleWorker("workflow-worker.fixture.ts");
	const runtime = startWorkerd({ script, persist, objects: { SESSIONS: "Session" } });
	onTestFinished(async () => {
		await runtime.dispose();
		rmSync(persist, { recursive: true, force: true });
	});
	const call = (path: string, body?: unknown) =>
		runtime.dispatchFetch(`http://localhost${path}`, {
			method: body === undefined ? "GET" : "POST",
			headers: { authorization: "Bearer key-one", "content-type": "application/json" },
			...(body === undefined ? {} : { body: JSON.stringify(body) }),
		});
	const session = async (): Promise<ServedSession> =>
		(await (await call("/api/agent/session/w")).json()) as ServedSession;
	const execute = (input: unknown) =>
		call("/api/agent/execute", { sessionId: "w", context: {}, input: JSON.stringify(input) });
	const first = await execute({ round: 1 });
	await expect.poll(async () => (await session()).workflowState).toEqual({ round: 1, twice: 2 });
	await call("/evict?session=w");
	await first.body?.cancel().catch(() => {});
	await execute({ event: "go", payload: "first" });
	await expect.poll(async () => (await session()).workflowState).toEqual({ round: 2, twice: 4 });
	const last = await (await execute({ event: "go", payload: "second" })).text();
	expect(last).toContain("execute_complete");
	const { messages, status } = await session();
	expect(status).toBe("completed");
	const output = { id: true, said: "Hello.", twice: 4, go: "second" };
	expect(JSON.stringify(messages)).toContain(JSON.stringify(JSON.stringify(output)).slice(1, -1));
});
