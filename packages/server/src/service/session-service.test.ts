import { setImmediate } from "node:timers/promises";
import { manualTime, type Script, scriptedModel } from "@holdfast/testing";
import { Agent, memoryHost } from "holdfast";
import type { LoggedEvent } from "holdfast/execute";
import { strategy } from "holdfast/execution";
import { budget } from "holdfast/middleware";
import { expect, test, vi } from "vitest";
import { sessionService } from "./session-service.ts";

async function read(events: AsyncIterable<readonly LoggedEvent[]>): Promise<LoggedEvent[]> {
	const all: LoggedEvent[] = [];
	for await (const batch of events) all.push(...batch);
	return all;
}

test("an agent that would fail every request is rejected when the service is created", async () => {
	const model = scriptedModel([]);
	const make = (agent: unknown, more: object = {}) => {
		return () => sessionService({ host: memoryHost(), agent: agent as never, ...more });
	};
	expect(make(undefined)).toThrow("`agent`");
	expect(make("gpt-5.2")).toThrow("`agent`");
	expect(make({})).toThrow("`model` must be a model");
	expect(make({ model: "gpt-5.2" })).toThrow('openai("gpt-5.2")');
	expect(make({ model, systm: "Be brief." })).toThrow(
		"An agent has no option `systm`. Did you mean `system`?",
	);
	expect(make({ model, maxSteps: 0 })).toThrow("`maxSteps`");
	expect(make({ model, middleware: [budget] })).toThrow("`middleware[0]` is a function");
	expect(make({ model, checkpoints: {} })).toThrow("`checkpoints` belongs to calls");
	expect(make({ model, tools: [{ run: () => "x" }] })).toThrow("tools[0] has no name");
	expect(make({ model }, { host: {} })).toThrow("`host`");
	// Where clients name their models, the agent needs none.
	await make({}, { models: () => model })().close();
});

test("a context with an unknown member is rejected: a misspelt one would be ignored silently", async () => {
	const service = sessionService({ host: memoryHost(), agent: { model: scriptedModel(["Hello."]) } });
	await expect(
		service.submit("t", "s", { input: "Hi", context: { system: "Be brief." } }),
	).rejects.toMatchObject({
		code: "invalid_input",
		message: expect.stringMatching(/"system".*Known members: systemPrompt, messages, tools/),
	});
	expect(await service.get("t", "s")).toBeUndefined();
	await service.close();
});

test("an agent with tools by name is served with them", async () => {
	const model = scriptedModel([{ toolCalls: [{ name: "weather", arguments: {} }] }, "Sunny."]);
	const weather = { description: "The weather.", parameters: { type: "object" }, run: () => "sun" };
	const service = sessionService({
		host: memoryHost(),
		agent: { ...new Agent({ model, tools: { weather } }) },
	});
	await service.submit("t", "s", { input: "Hi", context: {} });
	await read(service.follow("t", "s"));
	expect(await service.get("t", "s")).toMatchObject({ status: "completed" });
	expect(model.requests[1]?.messages.at(-1)).toMatchObject({ results: [{ result: "sun" }] });
	await service.close();
});

test("a run whose strategy waits is active: a message waits for it, and it continues by itself", async () => {
	const until = Date.now() + 100;
	const late = strategy({
		name: "late",
		decide({ last }) {
			if (last.kind === "assistant") return { kind: "finish" };
			if (last.kind === "wait") return { kind: "model", tag: "act", step: "next" };
			return { kind: "wait", until };
		},
	});
	const service = sessionService({
		host: memoryHost(),
		agent: { model: scriptedModel(["Rested.", "Awake."]), execution: late },
	});
	await service.submit("t", "s", { input: "Go", context: {} });
	await expect
		.poll(() => service.get("t", "s"))
		.toMatchObject({ status: "running", waiting: { reason: "strategy", tag: "wait", until } });
	const next = await service.submit("t", "s", { input: "Now" });
	const first = await read(service.follow("t", "s", { until: "complete" }));
	const { type: waiting } = first.find(({ event }) => event.type === "waiting")?.event ?? {};
	expect([waiting, first.at(-1)?.event]).toEqual([
		"waiting",
		{ type: "execute_complete", status: "completed" },
	]);
	const begun = await next.begun?.(new AbortController().signal);
	const second = await read(service.follow("t", "s", { after: begun as string, until: "complete" }));
	expect(second.at(-1)?.event).toEqual({ type: "execute_complete", status: "completed" });
	expect((await service.get("t", "s"))?.messages.map(({ role }) => role)).toEqual([
		...["user", "assistant", "user", "assistant"],
	]);
	await service.close();
});

test("a client's tool can have its schema as `inputSchema`, as in MCP, and is validated against it", async () => {
	const model = scriptedModel([
		{ toolCalls: [{ name: "look", arguments: { at: 7 } }] },
		{ toolCalls: [{ name: "look", arguments: { at: "the door" } }] },
	]);
	const service = sessionService({ host: memoryHost(), agent: { model }, clientsMaySet: ["tools"] });
	const inputSchema = { type: "object", properties: { at: { type: "string" } }, required: ["at"] };
	const tools = [{ name: "look", description: "Looks.", inputSchema }];
	await service.submit("t", "s", { input: "Hi", context: { tools } });
	await read(service.follow("t", "s"));
	expect(model.requests[0]?.tools?.[0]).toMatchObject({ name: "look", parameters: inputSchema });
	expect((await service.get("t", "s"))?.pendingToolCalls).toMatchObject([{ arguments: { at: "the door" } }]);
	await service.close();
});

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

test("a session that waited resumes with the functions that a new service has under the same names, or with an error [API-056]", async () => {
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

test("a time limit survives a restart of the service, which resumes the run by itself and logs the failure [API-053]", async () => {
	const time = manualTime();
	const host = memoryHost();
	const ask = { name: "ask_user", description: "Asks.", parameters: { type: "object" } };
	const serve = (script: Script) =>
		sessionService({
			host,
			agent: { model: scriptedModel(script), tools: [ask], ports: time.ports },
			remoteToolTimeoutMs: 5_000,
		});
	const before = serve([{ toolCalls: [{ name: "ask_user", id: "a" }] }]);
	const { after } = await before.submit("t", "s", { input: "Hi", context: {} });
	const asked = await read(before.follow("t", "s", { after, until: "complete" }));
	await before.close();
	time.pass(4_000);
	const service = serve(["Never mind."]);
	await service.supervise();
	time.pass(1_000);
	const rest = await read(service.follow("t", "s", { after: asked.at(-1)?.id ?? "", until: "complete" }));
	const messages = rest.flatMap(({ event }) => (event.type === "message_end" ? [event.message] : []));
	expect(messages).toMatchObject([{ role: "tool", toolCallId: "a", isError: true }, { role: "assistant" }]);
	expect(rest.at(-1)?.event).toEqual({ type: "execute_complete", status: "completed" });
	await service.close();
});

test("a session reports where its last run starts, and events of a call name it before its arguments", async () => {
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

test("middleware of the agent applies in a service", async () => {
	const model = scriptedModel(["one", "never"]);
	const service = sessionService({
		host: memoryHost(),
		agent: { model, middleware: [budget({ maxTokens: 10 })] },
	});
	for (const input of ["first", "second"]) {
		await service.submit("t", "s", { input, context: {} });
		for await (const _ of service.follow("t", "s"));
	}
	expect(model.requests).toHaveLength(1);
	expect(JSON.stringify(await service.get("t", "s"))).toContain("budget_exceeded");
	await service.close();
});

test("watchers of a run that ends while the service closes get its end, also from a slow store", async () => {
	const gate = Promise.withResolvers<void>();
	const host = memoryHost();
	const { journal } = host;
	const slow = {
		...journal,
		head: (key: string) => journal.head(key),
		async read(...parameters: Parameters<typeof journal.read>) {
			for (let turn = 0; turn < 20; turn++) await setImmediate();
			return journal.read(...parameters);
		},
	};
	const model = scriptedModel([{ text: "Done.", gate: gate.promise }]);
	const service = sessionService({ host: { ...host, journal: slow }, agent: { model } });
	const { after } = await service.submit("t", "s", { input: "Hi", context: {} });
	const watched = read(service.follow("t", "s", { after, until: "never" }));
	await vi.waitFor(() => expect(model.requests).toHaveLength(1));
	const closed = service.close({ drainMs: 5_000 });
	gate.resolve();
	expect((await watched).at(-1)?.event).toEqual({ type: "execute_complete", status: "completed" });
	await closed;
});
