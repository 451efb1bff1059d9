import { expect, test } from "vitest";
import { memoryHost } from "../journal/index.ts";
import { scriptedModel } from "../testing/scripted-model.ts";
import type { LoggedEvent } from "./session-log.ts";
import { sessionService } from "./session-service.ts";

async function read(events: AsyncIterable<readonly LoggedEvent[]>): Promise<LoggedEvent[]> {
	const all: LoggedEvent[] = [];
	for await (const batch of events) all.push(...batch);
	return all;
}

test("an execution is read from its log, from any event on [API-066, API-074]", async () => {
	const service = sessionService({
		host: memoryHost(),
		agent: { model: scriptedModel(["one two three", "more"]) },
	});
	const { after } = await service.submit("t", "s", { input: "Hi", context: {} });
	const events = await read(service.follow("t", "s", { after, until: "complete" }));
	expect(events.map(({ event }) => event.type)).toEqual([
		"session_start",
		"message_start",
		"message_end",
		"message_start",
		"text_start",
		"text_delta",
		"text_end",
		"message_end",
		"session_end",
		"execute_complete",
	]);
	for (const [index, { id }] of events.entries())
		expect(await read(service.follow("t", "s", { after: id }))).toEqual(events.slice(index + 1));
	const again = await service.submit("t", "s", { input: "More" });
	expect(again.created).toBe(false);
	const more = await read(service.follow("t", "s", { after: again.after, until: "complete" }));
	expect(more[0]?.event.type).toBe("session_start");
	const all = await read(service.follow("t", "s"));
	expect(all).toEqual([...events, ...more]);
	const info = await service.get("t", "s");
	expect(info).toMatchObject({ status: "completed", lastEventId: all.at(-1)?.id });
	expect(info?.messages).toHaveLength(4);
	expect(await service.get("other", "s")).toBeUndefined();
	await service.close();
});

test("a session that waited goes on with the functions that a new service has by the same names, or with an error [API-056]", async () => {
	const ask = { name: "ask_user", description: "Asks.", parameters: { type: "object" } };
	const look = { name: "look", description: "Looks.", parameters: { type: "object" } };
	const asked = { toolCalls: [{ name: "ask_user", id: "a" }] };
	for (const [tools, result] of [
		[[ask, { ...look, run: () => "seen anew" }], { output: "seen anew", isError: false }],
		[[ask], { output: expect.stringContaining("look"), isError: true }],
	] as const) {
		const host = memoryHost();
		const before = sessionService({
			host,
			agent: { model: scriptedModel([asked]), tools: [ask, { ...look, run: () => "seen" }] },
		});
		const { after } = await before.submit("t", "s", { input: "Hi", context: {} });
		await read(before.follow("t", "s", { after, until: "complete" }));
		await before.close();
		const model = scriptedModel([{ toolCalls: [{ name: "look", id: "l" }] }, "done"]);
		const service = sessionService({ host, agent: { model, tools } });
		expect((await service.get("t", "s"))?.pendingToolCalls).toMatchObject([{ id: "a" }]);
		const input = [{ role: "tool", toolCallId: "a", output: "blue" }];
		const gone = await service.submit("t", "s", { input });
		const events = await read(service.follow("t", "s", { after: gone.after, until: "complete" }));
		expect(events.at(-1)?.event).toEqual({ type: "execute_complete", status: "completed" });
		const messages = (await service.get("t", "s"))?.messages ?? [];
		expect(messages.filter(({ role }) => role === "tool")).toMatchObject([
			{ toolCallId: "a", output: "blue" },
			{ toolCallId: "l", ...result },
		]);
		await service.close();
	}
});

test("a session tells where its last run begins, and events of a call name it before its arguments", async () => {
	const add = { name: "add", description: "Adds.", parameters: { type: "object" } };
	const service = sessionService({
		host: memoryHost(),
		agent: {
			model: scriptedModel(["first", { toolCalls: [{ name: "add", arguments: { a: 1 } }] }, "done"]),
			tools: [add],
		},
	});
	expect((await service.get("t", "s"))?.lastRun).toBeUndefined();
	const first = await service.submit("t", "s", { input: "Hi", context: {} });
	await read(service.follow("t", "s"));
	const second = await service.submit("t", "s", { input: "Add" });
	const before = await read(service.follow("t", "s", { after: second.after }));
	expect(before.map(({ event }) => event)).toContainEqual({
		type: "toolcall_start",
		index: 0,
		id: "call_1_0",
		name: "add",
	});
	const answer = { role: "tool", toolCallId: "call_1_0", output: "1" };
	const third = await service.submit("t", "s", { input: [answer] });
	const after = await read(service.follow("t", "s", { after: third.after }));
	const info = await service.get("t", "s");
	expect(info?.lastRun?.runId).toBe(second.runId);
	expect(third.runId).toBe(second.runId);
	expect(await read(service.follow("t", "s", { after: info?.lastRun?.after }))).toEqual([
		...before,
		...after,
	]);
	expect(first.runId).not.toBe(second.runId);
	await service.close();
});
