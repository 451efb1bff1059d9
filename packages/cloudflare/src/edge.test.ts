// Sessions in objects behind a Worker, in the real runtime.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Miniflare } from "miniflare";
import { afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { bundleWorker, startWorkerd } from "./workerd.fixture.ts";

let script: string;
let persist: string;
let runtime: Miniflare;

beforeAll(async () => {
	script = await bundleWorker("edge-worker.fixture.ts");
});

beforeEach(async () => {
	persist = mkdtempSync(join(tmpdir(), "objects-"));
	runtime = start("no");
	await runtime.ready;
});

afterEach(async () => {
	await runtime.dispose();
	rmSync(persist, { recursive: true, force: true });
});

function start(hold: "yes" | "no" | "once"): Miniflare {
	const objects = { SESSIONS: "Session", DIRECTORY: "Directory" };
	return startWorkerd({ script, persist, bindings: { HOLD: hold }, objects });
}

function call(path: string, { key = "key-one", body, method, headers = {} }: CallOptions = {}) {
	return runtime.dispatchFetch(`http://localhost${path}`, {
		method: method ?? (body === undefined ? "GET" : "POST"),
		headers: {
			authorization: `Bearer ${key}`,
			...(body === undefined ? {} : { "content-type": "application/json" }),
			...headers,
		},
		...(body === undefined ? {} : { body: JSON.stringify(body) }),
	});
}

interface CallOptions {
	readonly key?: string;
	readonly body?: unknown;
	readonly method?: string;
	readonly headers?: Readonly<Record<string, string>>;
}

const question = (sessionId: string, text = "1 + 2?") => ({
	sessionId,
	context: {},
	input: { role: "user", content: text },
});

async function textOf(sessionId: string): Promise<string> {
	const answer = await call(`/api/agent/session/${sessionId}`);
	return answer.status === 200 ? JSON.stringify(await answer.json()) : "";
}

test("a run streams, its session can be read afterwards, is listed and disappears when it is deleted", async () => {
	const answer = await call("/api/agent/execute", { body: question("first") });
	expect(answer.status).toBe(200);
	const events = await answer.text();
	expect(events).toContain("three");
	expect(events).toContain("execute_complete");
	expect(await textOf("first")).toContain("It is three indeed.");
	await expect
		.poll(async () => await (await call("/api/agent/sessions")).json())
		.toMatchObject({ sessions: [{ sessionId: "first", isOpen: false }] });
	expect((await call("/api/agent/session/first", { method: "DELETE" })).status).toBe(200);
	expect((await call("/api/agent/session/first")).status).toBe(404);
	expect(await (await call("/api/agent/sessions")).json()).toEqual({ sessions: [] });
	// The id is free again.
	expect(await (await call("/api/agent/execute", { body: question("first") })).text()).toContain("three");
});

test("events are followed from any position, each once", async () => {
	const whole = await (await call("/api/agent/execute", { body: question("followed") })).text();
	const ids = [...whole.matchAll(/^id: (.+)$/gm)].map(([, id]) => id as string);
	expect(new Set(ids).size).toBe(ids.length);
	const middle = Math.floor(ids.length / 2);
	const rest = await call("/api/agent/session/followed/events", {
		headers: { "last-event-id": ids[middle] as string },
	});
	const later = [...(await rest.text()).matchAll(/^id: (.+)$/gm)].map(([, id]) => id);
	expect(later).toEqual(ids.slice(middle + 1));
});

test("a tenant's session does not exist for another", async () => {
	await (await call("/api/agent/execute", { body: question("mine") })).text();
	expect((await call("/api/agent/session/mine", { key: "key-two" })).status).toBe(404);
	expect((await call("/api/agent/session/mine/stop", { key: "key-two", body: {} })).status).toBe(404);
	expect(await (await call("/api/agent/sessions", { key: "key-two" })).json()).toEqual({ sessions: [] });
	expect((await call("/api/agent/sessions", { key: "wrong" })).status).toBe(401);
});

test("errors of requests have the same form as everywhere", async () => {
	const unknown = await call("/api/agent/execute", {
		body: { sessionId: "nobody", input: { role: "user", content: "?" } },
	});
	expect({ status: unknown.status, body: await unknown.json() }).toMatchObject({
		status: 400,
		body: { code: "context_required" },
	});
	const bad = await call("/api/agent/session/nobody/events");
	expect(bad.status).toBe(404);
});

test("a run whose runtime was killed is finished by the next, and its tool ran once", async () => {
	await runtime.dispose();
	runtime = start("yes");
	const leaving = new AbortController();
	const asked = await runtime.dispatchFetch("http://localhost/api/agent/execute", {
		method: "POST",
		headers: { authorization: "Bearer key-one", "content-type": "application/json" },
		body: JSON.stringify(question("killed")),
		signal: leaving.signal,
	});
	expect(asked.status).toBe(200);
	await expect.poll(() => textOf("killed")).toContain("tool");
	leaving.abort();
	await runtime.dispose();
	runtime = start("no");
	await expect.poll(() => textOf("killed"), { timeout: 60_000 }).toContain("It is three indeed.");
	const { messages } = (await (await call("/api/agent/session/killed")).json()) as {
		messages: { role: string }[];
	};
	expect(messages.map(({ role }) => role)).toEqual(["user", "assistant", "tool", "assistant"]);
});

/** Creates a session whose first run waits for the model, and a message that waits for the run. */
async function waitingMessage(sessionId: string) {
	await runtime.dispose();
	runtime = start("once");
	const first = await call("/api/agent/execute", { body: question(sessionId) });
	await expect.poll(() => textOf(sessionId)).toContain("tool");
	const second = await call("/api/agent/execute", { body: question(sessionId, "And again?") });
	expect(second.status).toBe(200);
	return { first, second };
}

test("a watcher of a run is not disconnected when another one leaves", async () => {
	await runtime.dispose();
	runtime = start("once");
	const first = await call("/api/agent/execute", { body: question("watched") });
	await expect.poll(() => textOf("watched")).toContain("tool");
	const second = await call("/api/agent/session/watched/events?follow=1");
	await first.body?.cancel();
	expect((await call("/api/agent/session/watched/stop", { body: {} })).status).toBe(200);
	let events = "";
	for await (const chunk of (second.body ?? []) as AsyncIterable<Uint8Array>) {
		events += new TextDecoder().decode(chunk);
		if (events.includes("execute_complete")) break;
	}
	expect(events).toContain("execute_complete");
});

/** Starts a run as a client that reads its first event, over a separate connection. */
async function begin(sessionId: string, key = "key-one") {
	const client = new AbortController();
	const answer = await fetch(new URL("/api/agent/execute", await runtime.ready), {
		method: "POST",
		headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
		body: JSON.stringify(question(sessionId)),
		signal: client.signal,
	});
	const reader = answer.body?.getReader();
	const next = async (): Promise<string> => new TextDecoder().decode((await reader?.read())?.value);
	return { status: answer.status, first: await next(), next, leave: () => client.abort() };
}

test("a tenant over its run limit gets 429 until one has ended, even if the clients have left", async () => {
	await runtime.dispose();
	runtime = start("yes");
	for (const id of ["one", "two"]) {
		const { status, leave } = await begin(id);
		expect(status).toBe(200);
		await expect.poll(() => textOf(id)).toContain("tool");
		leave();
	}
	const refused = await call("/api/agent/execute", { body: question("three") });
	expect(refused.headers.get("retry-after")).toBe("1");
	expect(await refused.json()).toMatchObject({
		code: "rate_limited",
		error: "2 runs are active, which is the limit. Wait until one has ended.",
	});
	expect((await begin("three", "key-two")).status).toBe(200);
	// Requests rejected for other reasons do not count, nor do completed ones.
	for (const id of ["one", "two"]) {
		expect((await call(`/api/agent/session/${id}/stop`, { body: {} })).status).toBe(200);
		await expect.poll(async () => (await begin(`after-${id}`)).status).toBe(200);
	}
	expect((await begin("four")).status).toBe(429);
	expect((await call("/api/agent/session/after-one", { method: "DELETE" })).status).toBe(200);
	expect((await begin("four")).status).toBe(200);
});

test("runs count after their objects were evicted, until the next objects have ended them", async () => {
	await runtime.dispose();
	runtime = start("once");
	const first = await begin("moved");
	await expect.poll(() => textOf("moved")).toContain("tool");
	first.leave();
	expect(await (await call("/evict?session=moved")).text()).toBe("evicted");
	await expect.poll(() => textOf("moved"), { timeout: 30_000 }).toContain("It is three indeed.");
	const rest = await Promise.all(["a", "b"].map((id) => begin(id)));
	expect(rest.map(({ status }) => status)).toEqual([200, 200]);
});

test("a silent stream gets heartbeats after the first watcher has left", async () => {
	await runtime.dispose();
	runtime = start("yes");
	const first = await begin("left");
	await expect.poll(() => textOf("left")).toContain("tool");
	const second = await begin("silent");
	await expect.poll(() => textOf("silent")).toContain("tool");
	first.leave();
	let received = second.first;
	while ((received.match(/^:/gm) ?? []).length < 10) received += await second.next();
	second.leave();
});

test("a message that waits for a run streams when its own run starts", async () => {
	const { first, second } = await waitingMessage("queued");
	expect((await call("/api/agent/session/queued/stop", { body: {} })).status).toBe(200);
	expect(await first.text()).toContain("execute_complete");
	const events = await second.text();
	expect(events).toContain("session_start");
	expect(events).toContain("It is three indeed.");
});

test("a message keeps waiting when its object is evicted, and streams when its run starts in the next", async () => {
	const { first, second } = await waitingMessage("evicted");
	const broken = first.text().catch(() => "");
	expect(await (await call("/evict?session=evicted")).text()).toBe("evicted");
	const events = await second.text();
	expect(events).toContain("session_start");
	expect(events).toContain("It is three indeed.");
	await broken;
	const { messages } = (await (await call("/api/agent/session/evicted")).json()) as {
		messages: { role: string }[];
	};
	const turn = ["user", "assistant", "tool", "assistant"];
	expect(messages.map(({ role }) => role)).toEqual([...turn, ...turn]);
	await expect
		.poll(async () => await (await call("/api/agent/sessions")).json())
		.toMatchObject({ sessions: [{ sessionId: "evicted", isOpen: false }] });
});
