// The client against the real thing: sessions of the core in a database, on HTTP by the server, over loopback.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createClient, type ExecuteComplete, type ExecuteEvent, type Fetch } from "@holdfast/client";
import { type ClientField, createServer, sessionService } from "@holdfast/server";
import { type ScriptedReply, scriptedModel } from "@holdfast/testing";
import { agent, tool } from "holdfast";
import { sqliteHost } from "holdfast/sqlite";
import { afterEach, beforeEach, expect, expectTypeOf, test } from "vitest";
import { z } from "zod";

type StreamedEvent = ExecuteEvent | ExecuteComplete;

let folder: string;
let running: { readonly url: string; close(): Promise<void> } | undefined;
let replies: (string | ScriptedReply)[];

/** A client of this server may set all that document 3 has. */
const everyField: readonly ClientField[] = ["prompt", "history", "tools", "model", "options"];

/** A server over the database of this test, as a new process would start it. */
async function start(port = 0): Promise<string> {
	const host = sqliteHost(join(folder, "sessions.db"));
	const model = scriptedModel(() => replies.shift() ?? "Done.");
	const pay = tool({
		name: "pay",
		description: "Pays.",
		needsApproval: true,
		run: () => "paid",
	});
	const service = sessionService({ host, agent: { model, tools: [pay] }, clientsMaySet: everyField });
	const server = createServer({ service });
	const { url } = await server.listen({ port });
	running = {
		url,
		async close() {
			await server.close({ drainMs: 0 });
			await host.close();
		},
	};
	return url;
}

beforeEach(() => {
	folder = mkdtempSync(join(tmpdir(), "holdfast-client-"));
	replies = [];
});
afterEach(async () => {
	await running?.close();
	running = undefined;
	rmSync(folder, { recursive: true, force: true });
});

/** Breaks the bodies of answers after so many bytes each. */
function cutting(...places: readonly number[]): Fetch {
	const left = [...places];
	return async (url, init) => {
		const response = await fetch(url, init);
		const place = left.shift();
		if (place === undefined || response.body === null) return response;
		const reader = response.body.getReader();
		let room = place;
		const body = new ReadableStream<Uint8Array>(
			{
				async pull(controller) {
					const { done, value } = await reader.read();
					if (done) return controller.close();
					if (room > 0) controller.enqueue(value.slice(0, room));
					room -= value.length;
					if (room > 0) return;
					await reader.cancel();
					controller.error(new TypeError("terminated"));
				},
			},
			{ highWaterMark: 0 },
		);
		return new Response(body, response);
	};
}

async function watched(url: string, sessionId: string): Promise<readonly StreamedEvent[]> {
	const events: StreamedEvent[] = [];
	for await (const { event } of createClient({ url }).watch(sessionId)) events.push(event);
	return events;
}

test("tools of the client run for the model, wherever the connection breaks", async () => {
	const url = await start();
	for (const place of [0, 1, 60, 200, 350, 500, 800, 1300]) {
		replies = [
			{
				text: "Let me look.",
				toolCalls: [{ name: "where" }, { name: "weather", arguments: { city: "Oslo" } }],
			},
			"It is sunny in Oslo.",
		];
		const client = createClient({ url, fetch: cutting(place, place + 90, place), reconnectDelayMs: 1 });
		const stream = client.execute({
			input: "What is the weather here? 🚲",
			tools: [
				{ name: "where", description: "Where the user is.", run: () => "Oslo" },
				{
					name: "weather",
					parameters: { type: "object", properties: { city: { type: "string" } } },
					execute: async (_, { city }: { city: string }) => ({ output: `Sunny in ${city}.` }),
				},
			],
		});
		const events: StreamedEvent[] = [];
		for await (const event of stream) events.push(event);
		const { sessionId, status, messages } = await stream.result();
		expect(status).toBe("completed");
		expect(events).toEqual(await watched(url, sessionId));
		expect(messages.map(({ role }) => role)).toEqual(["user", "assistant", "tool", "tool", "assistant"]);
		expect(messages).toMatchObject({ 2: { output: "Oslo" }, 3: { output: "Sunny in Oslo." } });
		expect(await client.session(sessionId)).toMatchObject({ status: "completed", messages });
	}
});

test("calls that need approval are requested and run at the server", async () => {
	replies = [{ toolCalls: [{ name: "pay" }] }, "Paid."];
	const client = createClient({ url: await start() });
	const first = await client.execute({ input: "Pay." }).result();
	expect(first).toMatchObject({ status: "awaiting_tool_execution", pendingToolCalls: [{ approval: true }] });
	const { sessionId, pendingToolCalls = [] } = first;
	await client.approve(sessionId, pendingToolCalls[0]?.id ?? "");
	await expect.poll(async () => (await client.session(sessionId)).status).toBe("completed");
	replies = [{ toolCalls: [{ name: "pay" }] }, "A pity."];
	const approve = () => ({ approved: false, reason: "Too much." });
	const { messages } = await client.execute({ sessionId, input: "Again.", approve }).result();
	expect(messages).toMatchObject({
		2: { role: "tool", isError: true, output: expect.stringContaining("Too much.") },
	});
});

test("a suspended execution continues across a restart of the server, and a stop ends one", async () => {
	replies = [{ toolCalls: [{ name: "slow" }] }, "Thanks."];
	const url = await start();
	const client = createClient({ url, reconnectDelayMs: 20 });
	const slow = {
		name: "slow",
		run: async () => {
			await running?.close();
			await start(Number(new URL(url).port));
			return "survived";
		},
	};
	const stream = client.execute({ input: "Go", tools: [slow] });
	const { sessionId, status, messages } = await stream.result();
	expect(status).toBe("completed");
	expect(messages).toMatchObject({ 2: { output: "survived" } });
	replies = [{ toolCalls: [{ name: "slow" }] }];
	const waiting = await client.execute({ sessionId, input: "Again" }).result();
	expect(waiting.status).toBe("awaiting_tool_execution");
	expect(await client.stop(sessionId)).toMatchObject({ stopped: true });
	expect(await client.session(sessionId)).toMatchObject({ status: "aborted" });
	const { sessions } = await client.sessions();
	expect(sessions).toEqual([
		{ sessionId, createdAt: expect.any(Number), updatedAt: expect.any(Number), isOpen: false },
	]);
});

test("the output of an agent arrives checked and typed, also when the run is read later", async () => {
	const host = sqliteHost(join(folder, "sessions.db"));
	const at = z.iso.datetime().transform((text) => new Date(text));
	const clerk = agent({
		model: scriptedModel(['{"city":1}', '{"city":"Rome","at":"2026-05-01T12:00:00.000Z"}']),
		output: z.object({ city: z.string(), at }),
	});
	const server = createServer({ service: sessionService({ host, agent: clerk }) });
	const { url } = await server.listen({ port: 0 });
	running = { url, close: () => server.close({ drainMs: 0 }).then(() => host.close()) };
	const client = createClient<typeof clerk>({ url });
	const stream = client.execute({ input: "Where, and when?" });
	const { status, output } = await stream.result();
	expect(status).toBe("completed");
	expect(output).toEqual({ city: "Rome", at: "2026-05-01T12:00:00.000Z" });
	expectTypeOf(output).toEqualTypeOf<{ city: string; at: string } | undefined>();
	const events = await watched(url, await stream.sessionId);
	expect(events.at(-1)).toEqual({ type: "execute_complete", status: "completed", output });
});
