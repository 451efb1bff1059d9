// Messages of a thread, and the thread itself: what is listed, queued, changed and ended.
import { join } from "node:path";
import { memoryHost } from "holdfast";
import type { StoredInput } from "holdfast/host";
import { sqliteHost } from "holdfast/sqlite";
import { expect, test } from "vitest";
import { defineHook, defineTool } from "../define/index.ts";
import { temporaryFolder } from "../files/files.fixture.ts";
import { oneAgent, type Reply, said, say, scripted, start } from "./threads.fixture.ts";

const call = (name: string, args: unknown = {}): Reply => ({ calls: [{ name, args }] });
const look = defineTool({ description: "x", execute: async () => ({ status: "success", result: "seen" }) });
const echo = () => scripted(({ messages }) => `re: ${String(messages.at(-1)?.content)}`);

test("a thread without options is rejected", async () => {
	const { threads } = start(oneAgent(scripted([])));
	await expect(threads.createThread(undefined as never)).rejects.toMatchObject({ code: "invalid_option" });
	await threads.close();
});

test("a state has the user of its thread, its start, and that it is active [SA-072]", async () => {
	const { threads } = start(oneAgent(echo()));
	const before = Date.now() * 1_000;
	const one = await threads.createThread({ agentId: "helper" });
	const other = await threads.createThread({ agentId: "helper", userId: "ann" });
	expect(one).toMatchObject({ agentId: "helper", userId: null, children: [], terminated: null });
	expect(other.userId).toBe("ann");
	expect(one.threadId).not.toBe(other.threadId);
	expect(Number.isInteger(one.createdAt)).toBe(true);
	expect(one.createdAt).toBeGreaterThanOrEqual(before);
	expect(one.createdAt).toBeLessThan(other.createdAt);
	expect((await threads.list()).map(({ id }) => id)).toEqual([other.threadId, one.threadId]);
	expect(await threads.get("nobody")).toBeNull();
	await expect(threads.createThread({ agentId: "nobody" })).rejects.toMatchObject({ code: "item_not_found" });
	for (const id of [undefined, "", 5] as unknown as string[])
		expect(() => threads.session(id)).toThrow(expect.objectContaining({ code: "invalid_argument" }));
	await threads.close();
});

test("terminate() ends active work and rejects messages; repeating it changes nothing, and the history stays [SA-073] [SA-133]", async () => {
	const begun = Promise.withResolvers<void>();
	let isAborted = false;
	const wait = defineTool({
		description: "x",
		execute: ({ execution }) =>
			new Promise((_, reject) => {
				execution?.abortSignal.addEventListener("abort", () => {
					isAborted = true;
					reject(new Error("stopped"));
				});
				begun.resolve();
			}),
	});
	const provider = scripted([call("wait"), "never"]);
	const { threads } = start(oneAgent(provider, { tools: { wait } }));
	const state = await threads.createThread({ agentId: "helper", message: "Go" });
	await begun.promise;
	await state.terminate();
	await expect.poll(() => isAborted).toBe(true);
	await threads.quiet();
	const { terminated } = state;
	expect(Number.isInteger(terminated)).toBe(true);
	expect(terminated).toBeGreaterThanOrEqual(state.createdAt);
	await state.terminate();
	expect((await threads.get(state.threadId))?.terminated).toBe(terminated);
	await expect(state.queueMessage({ content: "More" })).rejects.toMatchObject({ code: "thread_terminated" });
	await expect(threads.queueMessage(state.threadId, { content: "More" })).rejects.toMatchObject({
		code: "thread_terminated",
	});
	expect((await said(threads, state.threadId))[0]).toBe("user: Go");
	expect(provider.requests).toHaveLength(1);
	expect(provider.requests[0]?.signal).toBeInstanceOf(AbortSignal);
	await threads.close();
});

test("a stop aborts the call of the provider, and the thread continues with the next message [SA-133]", async () => {
	const asked = Promise.withResolvers<void>();
	const provider = scripted((_request, at) => {
		if (at > 0) return "Back.";
		asked.resolve();
		return { gate: new Promise(() => {}) };
	});
	const { threads } = start(oneAgent(provider));
	const { threadId } = await threads.createThread({ agentId: "helper", message: "Go" });
	await asked.promise;
	expect(await threads.stop(threadId)).toBe(true);
	expect(provider.requests[0]?.signal?.aborted).toBe(true);
	await say(threads, threadId, "Again");
	expect(await said(threads, threadId)).toEqual(["user: Go", "user: Again", "assistant: Back."]);
	await threads.continue(threadId);
	await threads.quiet();
	expect(provider.requests).toHaveLength(3);
	await threads.close();
});

test("definitions are loaded by their names, which are listed [SA-074]", async () => {
	const { threads } = start(oneAgent(echo()));
	const state = await threads.createThread({ agentId: "helper" });
	expect(await state.loadModel("main")).toMatchObject({ name: "main", model: "m-1" });
	expect(await state.loadPrompt("help")).toMatchObject({ name: "help" });
	expect(await state.loadAgent("helper")).toMatchObject({ name: "helper" });
	expect([await state.getModelNames(), await state.getPromptNames(), await state.getAgentNames()]).toEqual([
		["main"],
		["help"],
		["helper"],
	]);
	for (const load of ["loadModel", "loadPrompt", "loadAgent"] as const)
		await expect(state[load]("nobody")).rejects.toMatchObject({ code: "item_not_found" });
	await threads.close();
});

test("watchers get events in call order, and no message is stored [SA-076]", async () => {
	const tell = defineTool({
		description: "x",
		execute: async (state) => {
			for (let at = 0; at < 3; at++) void state.emit("progress", { at });
			return { status: "success", result: "told" };
		},
	});
	const { threads } = start(oneAgent(scripted([call("tell"), "ok"]), { tools: { tell } }));
	const { threadId } = await threads.createThread({ agentId: "helper" });
	const events: unknown[] = [];
	const leave = threads.subscribe(threadId, ({ event, data }) => events.push([event, data]));
	await say(threads, threadId, "Go");
	leave();
	await (await threads.get(threadId))?.emit("late");
	expect(events).toEqual([0, 1, 2].map((at) => ["progress", { at }]));
	expect(await said(threads, threadId)).toHaveLength(4);
	await threads.close();
});

test("a list respects limit, offset and order, and has the total number; an unknown message is null [SA-077]", async () => {
	const { threads } = start(oneAgent(echo()));
	const state = await threads.createThread({ agentId: "helper" });
	for (const content of ["1", "2", "3", "4", "5"]) await state.injectMessage({ role: "user", content });
	const list = async (options?: Parameters<typeof state.getMessages>[0]): Promise<unknown> => {
		const { messages, total, hasMore } = await state.getMessages(options);
		return [messages.map(({ content }) => content).join(""), total, hasMore];
	};
	expect(await list()).toEqual(["12345", 5, false]);
	expect(await list({ limit: 2 })).toEqual(["12", 5, true]);
	expect(await list({ limit: 2, offset: 3 })).toEqual(["45", 5, false]);
	expect(await list({ order: "desc", limit: 2, offset: 1 })).toEqual(["43", 5, true]);
	expect(await list({ offset: 9 })).toEqual(["", 5, false]);
	expect(await list({ limit: 0 })).toEqual(["", 5, true]);
	await expect(state.getMessages({ limit: -1 })).rejects.toMatchObject({ code: "invalid_value" });
	const first = (await state.getMessages()).messages[0];
	expect(await state.getMessage(first?.id ?? "")).toEqual(first);
	expect(await state.getMessage("nobody")).toBeNull();
	await threads.close();
});

test("an injected message starts nothing; a queued one does, and is accepted before any call ends [SA-078]", async () => {
	const gate = Promise.withResolvers<void>();
	const provider = scripted([{ text: "ok", gate: gate.promise }]);
	const { threads, host } = start(oneAgent(provider));
	const state = await threads.createThread({ agentId: "helper" });
	const injected = await state.injectMessage({ role: "assistant", content: "Welcome.", metadata: { a: 1 } });
	expect(injected).toMatchObject({ role: "assistant", content: "Welcome.", metadata: { a: 1 } });
	await threads.quiet();
	expect((await host.journal.head(state.threadId))?.openRunId).toBeUndefined();
	await state.queueMessage({ content: "Hi" });
	gate.resolve();
	await threads.quiet();
	expect(provider.requests[0]?.messages.slice(1)).toEqual([
		{ role: "assistant", content: "Welcome." },
		{ role: "user", content: "Hi" },
	]);
	expect(await said(threads, state.threadId)).toEqual(["assistant: Welcome.", "user: Hi", "assistant: ok"]);
	await threads.close();
});

test("messages queued during a step are in the next request, in order, and not in the current one [SA-079]", async () => {
	const more = defineTool({
		description: "x",
		execute: async (state) => {
			await state.queueMessage({ content: "first" });
			await state.queueMessage({ content: "second" });
			return { status: "success", result: "queued" };
		},
	});
	const asked = Promise.withResolvers<void>();
	const gate = Promise.withResolvers<void>();
	const provider = scripted((_request, at) => {
		if (at > 0) return at === 1 ? call("more") : "ok";
		asked.resolve();
		return { ...call("look"), gate: gate.promise };
	});
	const { threads } = start(oneAgent(provider, { tools: { look, more } }));
	const { threadId } = await threads.createThread({ agentId: "helper", message: "Go" });
	await asked.promise;
	await threads.queueMessage(threadId, { content: "meanwhile" });
	gate.resolve();
	await threads.quiet();
	const users = provider.requests.map(({ messages }) =>
		messages.flatMap(({ role, content }) => (role === "user" ? [content] : [])),
	);
	expect(users).toEqual([["Go"], ["Go", "meanwhile"], ["Go", "meanwhile", "first", "second"]]);
	await threads.close();
});

test("a queued message is marked until it is part of the thread, and survives its process [SA-080]", async () => {
	const path = join(temporaryFolder(), "threads.db");
	const asked = Promise.withResolvers<void>();
	const provider = scripted((_request, at) => {
		if (at > 0) return "ok";
		asked.resolve();
		return { gate: new Promise(() => {}) };
	});
	const project = oneAgent(provider);
	const first = sqliteHost(path);
	const { threads } = start(project, { host: first });
	const { threadId } = await threads.createThread({ agentId: "helper", message: "Go" });
	await asked.promise;
	const queued = await threads.queueMessage(threadId, { content: "Later" });
	expect(queued.metadata).toMatchObject({ queued: true });
	expect((await (await threads.get(threadId))?.getMessage(queued.id))?.metadata).toMatchObject({
		queued: true,
	});
	await threads.close();
	await first.close();
	const second = sqliteHost(path);
	const { threads: restarted } = start(project, { host: second });
	for await (const run of restarted.recover()) await run.result();
	await restarted.quiet();
	const lines = await said(restarted, threadId);
	expect(lines.filter((line) => line === "user: Later")).toHaveLength(1);
	expect(lines.at(-1)).toBe("assistant: ok");
	expect((await (await restarted.get(threadId))?.getMessage(queued.id))?.metadata).toEqual({});
	await restarted.close();
	await second.close();
});

test("an update changes the given fields, merges metadata, and rejects an unknown id [SA-081]", async () => {
	const { threads } = start(oneAgent(scripted([call("look"), "ok"]), { tools: { look } }));
	const state = await threads.createThread({ agentId: "helper" });
	const made = await state.injectMessage({ role: "user", content: "Hi", metadata: { a: 1, b: 1 } });
	const updated = await state.updateMessage(made.id, { metadata: { b: 2 }, rating: 5 });
	expect(updated).toEqual({ ...made, metadata: { a: 1, b: 2 }, rating: 5 });
	expect(await state.updateMessage(made.id, { content: "Hello" })).toEqual({ ...updated, content: "Hello" });
	await expect(state.updateMessage("nobody", { content: "x" })).rejects.toMatchObject({
		code: "message_not_found",
	});
	await say(threads, state.threadId, "Go");
	const { messages } = await state.getMessages();
	expect(messages[0]).toMatchObject({ content: "Hello", metadata: { a: 1, b: 2 }, rating: 5 });
	for (const message of messages) {
		const { content: _, ...rest } = await state.updateMessage(message.id, { content: `new ${message.role}` });
		const { content: __, ...before } = message;
		expect(rest).toEqual(before);
	}
	expect((await said(threads, state.threadId)).map((line) => line.replace(/ <.*/, ""))).toEqual([
		"user: new user",
		"user: new user",
		"assistant: new assistant",
		"tool: new tool",
		"assistant: new assistant",
	]);
	await threads.close();
});

test("deleting a message also deletes the results of its calls, and no request has one without the other [SA-082] [SA-085]", async () => {
	const calls = { text: "I look.", calls: [{ name: "look" }, { name: "look" }] };
	const provider = scripted([calls, calls, "ok", "again", "and again"]);
	const { threads } = start(oneAgent(provider, { tools: { look }, prompt: { includePastTools: true } }));
	const state = await threads.createThread({ agentId: "helper", message: "Go" });
	await threads.quiet();
	const { messages } = await state.getMessages();
	const assistants = messages.filter(({ tool_calls }) => tool_calls !== null);
	const tools = messages.filter(({ role }) => role === "tool");
	expect(await state.deleteMessage(assistants[0]?.id ?? "")).toBe(true);
	expect(await state.deleteMessage("nobody")).toBe(false);
	expect(await said(threads, state.threadId)).toEqual([
		"user: Go",
		"assistant: I look. <look> <look>",
		"tool: seen",
		"tool: seen",
		"assistant: ok",
	]);
	await say(threads, state.threadId, "Again");
	expect(await state.deleteMessage(tools[2]?.id ?? "")).toBe(true);
	await say(threads, state.threadId, "And again");
	expect(provider.requests.at(-1)?.messages.slice(1, 4)).toEqual([
		{ role: "user", content: "Go" },
		{ role: "assistant", content: "I look.", toolCalls: [expect.objectContaining({ id: "call_2_1" })] },
		{ role: "tool", toolCallId: "call_2_1", toolName: "look", content: "seen" },
	]);
	await threads.close();
});

test("messages of a thread have one order with increasing times, and no calls overlap [SA-083]", async () => {
	let open = 0;
	let most = 0;
	const provider = scripted(async () => {
		most = Math.max(most, ++open);
		await Promise.resolve();
		open--;
		return "ok";
	});
	const { threads } = start(oneAgent(provider));
	const { threadId } = await threads.createThread({ agentId: "helper" });
	const contents = Array.from({ length: 50 }, (_, at) => `message ${at}`);
	await Promise.all(contents.map((content) => threads.queueMessage(threadId, { content })));
	await threads.quiet();
	const messages = (await (await threads.get(threadId))?.getMessages({ limit: 1_000 }))?.messages ?? [];
	const users = messages.flatMap(({ role, content }) => (role === "user" ? [content] : []));
	expect([...users].sort()).toEqual([...contents].sort());
	expect(new Set(messages.map(({ id }) => id)).size).toBe(messages.length);
	for (const [at, { created_at }] of messages.entries()) {
		expect(Number.isInteger(created_at)).toBe(true);
		if (at > 0) expect(created_at).toBeGreaterThan(messages[at - 1]?.created_at ?? 0);
	}
	expect(most).toBe(1);
	await threads.close();
});

test("silent messages are listed on request, and the model sees them [SA-084]", async () => {
	const provider = scripted(["ok"]);
	const { threads } = start(oneAgent(provider));
	const state = await threads.createThread({ agentId: "helper" });
	await state.injectMessage({ role: "user", content: "psst", silent: true });
	await say(threads, state.threadId, "Hi");
	const { messages, total } = await state.getMessages();
	expect([messages.map(({ content }) => content), total]).toEqual([["Hi", "ok"], 2]);
	expect((await state.getMessages({ includeSilent: true })).total).toBe(3);
	expect(provider.requests[0]?.messages[1]).toEqual({ role: "user", content: "psst" });
	await threads.close();
});

test("a hook's changes to a waiting message are shown, and others' inputs are unchanged", async () => {
	const host = memoryHost();
	const hooks = [
		defineHook({
			hook: "before_create_message",
			id: "loud",
			execute: async (_state, message) => ({ ...message, content: `${message.content}!` }),
		}),
	];
	const { threads } = start(oneAgent(echo(), { hooks, agent: { hooks: ["loud"] } }), { host });
	const state = await threads.createThread({ agentId: "helper" });
	await state.injectMessage({ role: "user", content: "Hi" });
	expect((await host.journal.inbox(state.threadId)).map(({ kind }: StoredInput) => kind)).toEqual(["edit"]);
	expect(await said(threads, state.threadId)).toEqual(["user: Hi!"]);
	await threads.close();
});

test("a deleted thread is removed with all its data", async () => {
	const { threads, host } = start(oneAgent(echo()));
	const { threadId } = await threads.createThread({ agentId: "helper", message: "Go" });
	await threads.quiet();
	expect(await threads.delete(threadId)).toBe(true);
	expect(await threads.delete(threadId)).toBe(false);
	expect([await threads.get(threadId), await host.journal.head(threadId), await threads.list()]).toEqual([
		null,
		undefined,
		[],
	]);
	await threads.close();
});
