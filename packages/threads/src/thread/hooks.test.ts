// Hooks: which are called, when, with what, and what becomes of what they give.
import { expect, test } from "vitest";
import { defineHook, defineTool } from "../define/index.ts";
import type { HookName, HookSignatures, Message } from "../types/index.ts";
import { oneAgent, type Reply, said, say, scripted, start } from "./threads.fixture.ts";

const call = (name: string, args: unknown = {}): Reply => ({ calls: [{ name, args }] });
const hook = <Name extends HookName>(name: Name, id: string, execute: HookSignatures[Name]) =>
	defineHook({ hook: name, id, execute });
const ok = defineTool({ description: "x", execute: async () => ({ status: "success", result: "raw" }) });
const bad = defineTool({ description: "x", execute: async () => ({ status: "error", error: "broken" }) });

test("a prompt's hooks, even none, replace the agent's; undeclared ones never run [SA-049] [SA-050]", async () => {
	const run = async (agent: string[] | undefined, prompt: string[] | undefined): Promise<unknown> => {
		const log: string[] = [];
		const hooks = ["one", "two", "three"].map((id) =>
			hook("after_system_message", id, () => {
				log.push(id);
				return null;
			}),
		);
		const { threads } = start(
			oneAgent(scripted(["ok"]), {
				hooks,
				...(agent === undefined ? {} : { agent: { hooks: agent } }),
				...(prompt === undefined ? {} : { prompt: { hooks: prompt } }),
			}),
		);
		await threads.createThread({ agentId: "helper", message: "Go" });
		await threads.quiet();
		await threads.close();
		return log;
	};
	expect(await run(undefined, undefined)).toEqual([]);
	expect(await run(["one"], undefined)).toEqual(["one"]);
	expect(await run(["one"], ["two"])).toEqual(["two"]);
	expect(await run(["one"], [])).toEqual([]);
});

test("a hook that throws or returns an invalid value is logged, and its input is used [SA-051]", async () => {
	const provider = scripted(["ok"]);
	const hooks = [
		hook("after_system_message", "throws", () => {
			throw new Error("boom");
		}),
		hook("after_system_message", "number", () => 5 as unknown as string),
		hook("filter_messages", "no_list", () => "x" as unknown as Message[]),
		hook("before_create_message", "no_message", () => null as unknown as Message),
	];
	const { threads, logs } = start(oneAgent(provider, { hooks, agent: { hooks: hooks.map(({ id }) => id) } }));
	const { threadId } = await threads.createThread({ agentId: "helper", message: "Go" });
	await threads.quiet();
	expect(provider.requests[0]?.messages).toEqual([
		{ role: "system", content: "You help." },
		{ role: "user", content: "Go" },
	]);
	expect(await said(threads, threadId)).toEqual(["user: Go", "assistant: ok"]);
	const failed = logs.map(({ topic, data }) => [topic, (data as { id: string }).id]);
	expect(failed).toEqual([
		["hook", "no_message"],
		["hook", "throws"],
		["hook", "number"],
		["hook", "no_list"],
		["hook", "no_message"],
	]);
	await threads.close();
});

test("for any invalid return value of a hook, its input is used, and that is logged [SA-051]", async () => {
	const provider = scripted([call("ok"), "done"]);
	const wrong = (name: HookName, id: string, given: unknown) =>
		defineHook({ hook: name, id, execute: () => given as never });
	const hooks = [
		wrong("after_system_message", "object", { text: "x" }),
		wrong("filter_messages", "of_texts", ["x"]),
		wrong("filter_messages", "no_messages", null),
		wrong("prefilter_llm_history", "without_roles", [{ content: "x" }]),
		wrong("prefilter_llm_history", "no_history", undefined),
		wrong("before_create_message", "list", []),
		wrong("before_create_message", "number_in_it", { content: 5 }),
		wrong("after_tool_call_success", "true", true),
		wrong("before_store_tool_result", "no_status", { status: "maybe", result: "x" }),
		wrong("before_store_tool_result", "no_result", null),
		wrong("before_update_message", "text", "x"),
	];
	const { threads, logs } = start(
		oneAgent(provider, { hooks, tools: { ok }, agent: { hooks: hooks.map(({ id }) => id) } }),
	);
	const { threadId } = await threads.createThread({ agentId: "helper", message: "Go" });
	await threads.quiet();
	expect(provider.requests[1]?.messages).toMatchObject([
		{ role: "system", content: "You help." },
		{ role: "user", content: "Go" },
		{ role: "assistant", toolCalls: [{ name: "ok" }] },
		{ role: "tool", content: "raw" },
	]);
	expect(provider.requests[1]?.messages).toHaveLength(4);
	const state = await threads.get(threadId);
	const [first] = (await state?.getMessages())?.messages ?? [];
	await state?.updateMessage(first?.id ?? "", { content: "Went" });
	expect(await said(threads, threadId)).toEqual([
		"user: Went",
		"assistant: <ok>",
		"tool: raw",
		"assistant: done",
	]);
	const failed = new Set(logs.map(({ topic, data }) => `${topic} ${(data as { id: string }).id}`));
	expect([...failed].sort()).toEqual(hooks.map(({ id }) => `hook ${id}`).sort());
	await threads.close();
});

test("hooks of one kind run in declared order, each with the result of the previous one; an empty text counts [SA-052] [SA-055]", async () => {
	const provider = scripted(["ok", "ok"]);
	const hooks = [
		hook("after_system_message", "bang", (_state, text) => `${text}!`),
		hook("after_system_message", "query", (_state, text) => `${text}?`),
		hook("after_system_message", "keep", () => undefined),
		hook("after_system_message", "keep_too", () => null),
		hook("after_system_message", "empty", () => ""),
	];
	const order = { agent: { hooks: ["query", "keep", "keep_too", "bang"] } };
	const { threads, logs } = start(oneAgent(provider, { hooks, ...order }));
	await threads.createThread({ agentId: "helper", message: "Go" });
	await threads.quiet();
	expect(provider.requests[0]?.messages[0]?.content).toBe("You help.?!");
	expect(logs).toEqual([]);
	await threads.close();
	const { threads: others } = start(oneAgent(provider, { hooks, agent: { hooks: ["empty"] } }));
	await others.createThread({ agentId: "helper", message: "Go" });
	await others.quiet();
	expect(provider.requests[1]?.messages[0]?.content).toBe("");
	await others.close();
});

test("after_thread_created runs once, with only the state, before the first call [SA-053]", async () => {
	const log: unknown[] = [];
	const provider = scripted((_request, at) => {
		log.push(`call ${at}`);
		return "ok";
	});
	const hooks = [
		hook("after_thread_created", "made", async (...given) => {
			// It takes its time, and whoever creates the thread waits.
			for (let turn = 0; turn < 50; turn++) await new Promise((resolve) => setImmediate(resolve));
			await given[0].setValue("made", true);
			log.push(["made", given.length, given[0].threadId]);
		}),
	];
	const project = oneAgent(provider, { hooks, agent: { hooks: ["made"] } });
	const { threads, host } = start(project);
	const { threadId } = await threads.createThread({ agentId: "helper" });
	await say(threads, threadId, "Go");
	await threads.close();
	const { threads: restarted } = start(project, { host });
	await say(restarted, threadId, "Again");
	expect(log).toEqual([["made", 1, threadId], "call 0", "call 1"]);
	expect(await (await restarted.get(threadId))?.getValue("made")).toBe(true);
	await restarted.close();
});

test("filter_messages feeds the request, and prefilter_llm_history is applied last; stored messages stay [SA-056] [SA-057]", async () => {
	const seen: unknown[] = [];
	const provider = scripted(["one", "two"]);
	const hooks = [
		hook("filter_messages", "recent", (_state, messages) => {
			seen.push(messages.map(({ role, content }) => `${role}: ${content}`));
			// What it does to what it is given changes nothing that is stored.
			for (const message of messages.slice(0, -1))
				Object.assign(message, {
					content: "gone",
					role: "tool",
					metadata: Object.assign(message.metadata ?? {}, { x: 1 }),
				});
			return messages.slice(-1);
		}),
		hook("prefilter_llm_history", "remind", (_state, messages) => {
			seen.push(messages.map(({ role }) => role));
			return [...messages, { role: "user", content: "Be brief." }];
		}),
	];
	const { threads } = start(oneAgent(provider, { hooks, agent: { hooks: ["remind", "recent"] } }));
	const message = { content: "Go", metadata: { of: ["ann"] } };
	const { threadId } = await threads.createThread({ agentId: "helper", message });
	await threads.quiet();
	await say(threads, threadId, "Again");
	expect(seen.slice(2)).toEqual([
		["user: Go", "assistant: one", "user: Again"],
		["system", "user"],
	]);
	expect(provider.requests[1]?.messages).toEqual([
		{ role: "system", content: "You help." },
		{ role: "user", content: "Again" },
		{ role: "user", content: "Be brief." },
	]);
	expect(await said(threads, threadId)).toEqual([
		"user: Go",
		"assistant: one",
		"user: Again",
		"assistant: two",
	]);
	const { messages } = (await (await threads.get(threadId))?.getMessages()) ?? { messages: [] };
	expect(messages.map(({ metadata }) => metadata)).toEqual([{ of: ["ann"] }, {}, {}, {}]);
	await threads.close();
});

test("the result of before_create_message is stored, and after_create_message gets it [SA-058]", async () => {
	const seen: unknown[] = [];
	const provider = scripted(["hello", "again"]);
	const hooks = [
		hook("before_create_message", "stamp", (_state, message) => ({
			...message,
			content: `${message.content} [${message.role}]`,
			metadata: { stamped: true },
		})),
		hook("after_create_message", "seen", (_state, message) => {
			seen.push([message.role, message.content, message.metadata?.stamped]);
			return { ...message, content: "ignored" } as unknown as undefined;
		}),
	];
	const { threads } = start(oneAgent(provider, { hooks, agent: { hooks: ["stamp", "seen"] } }));
	const { threadId } = await threads.createThread({ agentId: "helper", message: "Go" });
	await threads.quiet();
	await say(threads, threadId, "More");
	expect(await said(threads, threadId)).toEqual([
		"user: Go [user]",
		"assistant: hello [assistant]",
		"user: More [user]",
		"assistant: again [assistant]",
	]);
	expect(seen).toContainEqual(["user", "Go [user]", true]);
	expect(seen).toContainEqual(["assistant", "hello [assistant]", true]);
	expect(provider.requests[1]?.messages[2]).toEqual({ role: "assistant", content: "hello [assistant]" });
	await threads.close();
});

test("the result of before_update_message is applied, and after_update_message gets the updated message [SA-059]", async () => {
	const seen: unknown[] = [];
	const hooks = [
		hook("before_update_message", "before", (_state, id, updates) => {
			seen.push([id, updates]);
			return { ...updates, content: `${updates.content}!` };
		}),
		hook("after_update_message", "after", (_state, message) => {
			seen.push([message.id, message.content]);
		}),
	];
	const { threads } = start(oneAgent(scripted(["ok"]), { hooks, agent: { hooks: ["before", "after"] } }));
	const { threadId } = await threads.createThread({ agentId: "helper", message: "Go" });
	await threads.quiet();
	const state = await threads.get(threadId);
	const id = (await state?.getMessages())?.messages[0]?.id ?? "";
	await state?.updateMessage(id, { content: "Went" });
	expect(seen).toEqual([
		[id, { content: "Went" }],
		[id, "Went!"],
	]);
	expect(await said(threads, threadId)).toEqual(["user: Went!", "assistant: ok"]);
	await threads.close();
});

test("before_store_tool_result changes what is stored and what the model sees [SA-060]", async () => {
	const provider = scripted([call("ok"), "done"]);
	const hooks = [
		hook("before_store_tool_result", "mask", (_state, { function: { name } }, result) => ({
			...result,
			result: `${name} masked`,
		})),
	];
	const { threads } = start(oneAgent(provider, { hooks, tools: { ok }, agent: { hooks: ["mask"] } }));
	const { threadId } = await threads.createThread({ agentId: "helper", message: "Go" });
	await threads.quiet();
	expect((await said(threads, threadId))[2]).toBe("tool: ok masked");
	expect(provider.requests[1]?.messages.at(-1)).toMatchObject({ role: "tool", content: "ok masked" });
	await threads.close();
});

test("hooks of success and of failure fire only for their own kind; null keeps, a result replaces, even an error [SA-061]", async () => {
	const log: unknown[] = [];
	const provider = scripted([
		{ calls: [{ name: "ok" }, { name: "bad" }, { name: "unknown" }, { name: "refused" }] },
		"done",
	]);
	const hooks = [
		hook("after_tool_call_success", "won", (_state, { function: { name } }) => {
			log.push(["won", name]);
			return name === "refused" ? { status: "error", error: "not so" } : null;
		}),
		hook("after_tool_call_failure", "lost", (_state, { function: { name } }, { error }) => {
			log.push(["lost", name, error]);
			return name === "bad" ? { status: "success", result: "mended" } : null;
		}),
	];
	const { threads, logs } = start(
		oneAgent(provider, { hooks, tools: { ok, bad, refused: ok }, agent: { hooks: ["won", "lost"] } }),
	);
	const { threadId } = await threads.createThread({ agentId: "helper", message: "Go" });
	await threads.quiet();
	expect(log).toHaveLength(4);
	expect(log).toContainEqual(["won", "ok"]);
	expect(log).toContainEqual(["won", "refused"]);
	expect(log).toContainEqual(["lost", "bad", "broken"]);
	expect(log).toContainEqual(["lost", "unknown", expect.stringContaining("no tool")]);
	const tools = (await said(threads, threadId)).filter((line) => line.startsWith("tool:")).sort();
	const unknown = expect.stringContaining('no tool "unknown"');
	expect(tools).toEqual([unknown, "tool: mended", "tool: not so", "tool: raw"]);
	expect(provider.requests[1]?.messages).toContainEqual(
		expect.objectContaining({ role: "tool", content: "mended" }),
	);
	// To give back nothing is no mistake.
	expect(logs).toEqual([]);
	await threads.close();
});
