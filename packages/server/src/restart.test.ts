// What a server keeps over its own death: ids, unfinished replies, waiting calls, and how it ends when it is asked to.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type Session, say } from "./served.fixture.ts";
import { type ServerProcess, startServer } from "./server-process.fixture.ts";
import { type Received, readSse, until } from "./sse.fixture.ts";

// Every test starts real processes, which takes its time on a busy machine.
const half = "one two three four five ";
const rest = "six seven.";
let folder: string;
let running: ServerProcess[];

beforeEach(() => {
	folder = mkdtempSync(join(tmpdir(), "holdfast-server-"));
	running = [];
});
afterEach(async () => {
	for (const each of running) await each.kill();
	rmSync(folder, { recursive: true, force: true });
});

async function start(): Promise<ServerProcess> {
	const started = await startServer(join(folder, "sessions.db"), half, rest);
	running.push(started);
	return started;
}

function execute({ url }: ServerProcess, body: object): Promise<Response> {
	return fetch(`${url}/api/agent/execute`, {
		method: "POST",
		headers: { "content-type": "application/json" },
		body: JSON.stringify(body),
	});
}

async function sessionOf({ url }: ServerProcess, id: string): Promise<Session> {
	return (await (await fetch(`${url}/api/agent/session/${id}`)).json()) as Session;
}

const follow = ({ url }: ServerProcess, id: string, after: string | undefined): Promise<Response> =>
	fetch(`${url}/api/agent/session/${id}/events`, {
		headers: after === undefined ? {} : { "last-event-id": after },
	});

/** Reads until the text ends so; returns the events. */
async function readUpTo(response: Response, end: string): Promise<readonly Received[]> {
	const reader = readSse(response);
	const seen: Received[] = [];
	for (let text = ""; !text.endsWith(end); ) {
		const next = await reader.next();
		if (next === undefined) throw new Error(`The stream ended after "${text}".`);
		seen.push(next);
		if (next.event.type === "text_delta") text += next.event.delta;
	}
	await reader.close().catch(() => {});
	return seen;
}

const ask = { sessionId: "s", input: say("Count."), context: {} };

test("ids emitted before a kill are replayed with the same events, and none is reused [API-075]", async () => {
	const first = await start();
	const seen = await readUpTo(await execute(first, ask), "five ");
	await first.kill();
	const second = await start();
	second.go();
	const all = await readSse(await follow(second, "s", undefined)).rest();
	expect(all.slice(0, seen.length)).toEqual(seen);
	expect(new Set(all.map(({ id }) => id)).size).toBe(all.length);
	for (const at of [0, 3, seen.length - 1]) {
		const remaining = await readSse(await follow(second, "s", seen[at]?.id)).rest();
		expect(remaining).toEqual(all.slice(at + 1));
	}
});

test("a reply that was cut by a kill ends with its partial text, and is generated again [API-076]", async () => {
	const first = await start();
	const seen = await readUpTo(await execute(first, ask), "five ");
	await first.kill();
	const second = await start();
	second.go();
	const remaining = await readSse(await follow(second, "s", seen.at(-1)?.id)).rest();
	const ends = remaining
		.filter(({ event }) => event.type === "message_end")
		.map(({ event }) => event.message);
	expect(ends).toMatchObject([
		{ role: "error", partial: { role: "assistant", content: [{ type: "text", text: half }] } },
		{ role: "assistant", content: [{ type: "text", text: half + rest }] },
	]);
	expect(remaining.at(-1)?.event).toEqual({ type: "execute_complete", status: "completed" });
});

test("a waiting session is the same after a kill, and resumes with the answer to the same call [API-055] [API-056]", async () => {
	const first = await start();
	const tools = [{ name: "ask_user", description: "Asks.", parameters: { type: "object" } }];
	await readSse(await execute(first, { sessionId: "s", input: say("use tools"), context: { tools } })).rest();
	const before = await sessionOf(first, "s");
	expect(before).toMatchObject({
		status: "awaiting_tool_execution",
		model: "halting",
		totalCost: 15 / 1_000_000,
		pendingToolCalls: [{ id: "call-ask_user" }],
	});
	await first.kill();
	const second = await start();
	expect(await sessionOf(second, "s")).toEqual(before);
	second.go();
	const input = [{ role: "tool", toolCallId: "call-ask_user", output: "blue" }];
	const events = await readSse(await execute(second, { sessionId: "s", input })).rest();
	expect(events.at(-1)?.event).toEqual({ type: "execute_complete", status: "completed" });
	const { messages } = await sessionOf(second, "s");
	expect(messages.slice(0, before.messages.length)).toEqual(before.messages);
	expect(messages.filter(({ role }) => role === "tool")).toMatchObject([
		{ toolCallId: "call-look", output: "seen" },
		{ toolCallId: "call-ask_user", output: "blue" },
	]);
});

test("on SIGTERM new work is rejected, work that cannot end in time is left, and the process exits with 0 [API-086]", async () => {
	const first = await start();
	const seen = await readUpTo(await execute(first, ask), "five ");
	const watcher = readSse(await follow(first, "s", seen.at(-1)?.id));
	first.child.kill("SIGTERM");
	await until("new work is refused", async () => {
		const response = await execute(first, { ...ask, sessionId: "t" });
		if (response.status === 200) await response.body?.cancel();
		return response.status === 503 && (await response.json()).code === "shutting_down";
	});
	expect((await watcher.rest()).some(({ event }) => event.type === "execute_complete")).toBe(false);
	expect(await first.ended).toBe(0);
	const second = await start();
	second.go();
	const remaining = await readSse(await follow(second, "s", seen.at(-1)?.id)).rest();
	expect(remaining.at(-1)?.event).toEqual({ type: "execute_complete", status: "completed" });
});

test("a run that ends within the drain time is streamed to its end [API-086]", async () => {
	const first = await start();
	const response = await execute(first, ask);
	first.child.kill("SIGTERM");
	first.go();
	expect((await readSse(response).rest()).at(-1)?.event).toEqual({
		type: "execute_complete",
		status: "completed",
	});
	expect(await first.ended).toBe(0);
});
