// Sub-agents: threads that another thread makes, waits for and hears of; and agents that take a thread over.
import { join } from "node:path";
import { sqliteHost } from "holdfast/sqlite";
import { expect, test } from "vitest";
import { z } from "zod";
import { defineAgent, defineHook, defineModel, definePrompt, defineTool } from "../define/index.ts";
import { temporaryFolder } from "../files/files.fixture.ts";
import type {
	AgentDefinition,
	HookDefinition,
	Project,
	PromptDefinition,
	ProviderRequest,
	ThreadState,
	ToolDefinition,
} from "../types/index.ts";
import type { Threads } from "./index.ts";
import {
	projectOf,
	type Reply,
	type ScriptedProvider,
	said,
	say,
	scripted,
	start,
} from "./threads.fixture.ts";

const call = (name: string, args: unknown = {}): Reply => ({ calls: [{ name, args }] });
const who = ({ messages }: Pick<ProviderRequest, "messages">): string =>
	/You are (?<name>\w+)/.exec(String(messages[0]?.content))?.groups?.name ?? "";

interface Given {
	readonly tools?: PromptDefinition["tools"];
	readonly childTools?: PromptDefinition["tools"];
	readonly child?: Partial<AgentDefinition>;
	readonly parent?: Partial<AgentDefinition>;
	// biome-ignore lint/suspicious/noExplicitAny: tools of any arguments
	readonly own?: Record<string, ToolDefinition<any, any, any>>;
	readonly hooks?: readonly HookDefinition[];
}

/** A boss that may call a worker. */
function family(
	provider: ScriptedProvider,
	{ tools, childTools, child, parent, own = {}, hooks = [] }: Given,
): Project {
	const prompt = (name: string, callables: PromptDefinition["tools"]): PromptDefinition =>
		definePrompt({
			name: `${name}_prompt`,
			toolDescription: "x",
			prompt: `You are ${name}.`,
			model: "main",
			tools: callables ?? [],
		}) as PromptDefinition;
	return projectOf({
		agents: [
			defineAgent({ name: "boss", sideA: { prompt: "boss_prompt" }, ...parent }),
			defineAgent({
				name: "worker",
				title: "Worker",
				description: "Does work.",
				exposeAsTool: true,
				toolDescription: "Works for you.",
				sideA: { prompt: "worker_prompt" },
				...child,
			}),
		],
		prompts: [prompt("boss", tools ?? []), prompt("worker", childTools), prompt("other", [])],
		models: [defineModel({ name: "main", provider: provider.factory, model: "m" })],
		tools: own,
		hooks,
	});
}

/** Replies by who is asked, each in its own order. */
function replies(given: Readonly<Record<string, readonly (string | Reply)[]>>): ScriptedProvider {
	const asked: Record<string, number> = {};
	return scripted((request) => {
		const name = who(request);
		const at = asked[name] ?? 0;
		asked[name] = at + 1;
		const reply = given[name]?.[at];
		if (reply === undefined) throw new Error(`${name} has no reply ${at + 1}.`);
		return reply;
	});
}

const blocking = { name: "worker", initUserMessageProperty: "task", initAgentNameProperty: "nick" };
const resumable = {
	name: "worker",
	resumable: {
		receives_messages: "side_a" as const,
		maxInstances: 2,
		parentCommunication: "implicit" as const,
	},
};

/** Resolves when nothing is under way any more, also what the end of one thing has begun. */
async function settled(threads: Threads): Promise<void> {
	for (let looks = 0; looks < 5; looks++) await threads.quiet();
}

const children = async (threads: Threads, threadId: string): Promise<ThreadState["children"]> =>
	(await threads.get(threadId))?.children ?? [];

test("an exposed agent that is called takes over the same thread [SA-014] [SA-015]", async () => {
	const provider = replies({
		boss: [call("worker", { message: "yours" })],
		worker: ["I am here.", "Still here."],
	});
	const { threads } = start(family(provider, { tools: ["worker"] }));
	const state = await threads.createThread({ agentId: "boss", message: "Help" });
	await settled(threads);
	expect(provider.requests[0]?.tools?.[0]?.function).toMatchObject({
		name: "worker",
		description: "Works for you.",
	});
	expect((await threads.get(state.threadId))?.agentId).toBe("worker");
	expect(await children(threads, state.threadId)).toEqual([]);
	expect(await threads.list()).toHaveLength(1);
	expect(await said(threads, state.threadId)).toEqual([
		"user: Help",
		"assistant: <worker>",
		'tool: The agent "worker" takes over.',
		"assistant: I am here.",
	]);
	await say(threads, state.threadId, "And now?");
	expect(provider.requests.map(who)).toEqual(["boss", "worker", "worker"]);
	await threads.close();
});

test("named arguments become the child's first message and its name; the parent waits for its result [SA-112]", async () => {
	const provider = replies({
		boss: [call("worker", { task: "Dig.", nick: "Digger" }), "Dug."],
		worker: ["A hole."],
	});
	const { threads } = start(family(provider, { tools: [blocking] }));
	const { threadId } = await threads.createThread({ agentId: "boss", message: "Go" });
	await settled(threads);
	const [child] = await children(threads, threadId);
	expect(child).toMatchObject({ threadName: "Digger", name: "worker", blocking: true, status: "idle" });
	expect(await said(threads, child?.reference ?? "")).toEqual(["user: Dig.", "assistant: A hole."]);
	expect(await said(threads, threadId)).toEqual([
		"user: Go",
		"assistant: <worker>",
		"tool: A hole.",
		"assistant: Dug.",
	]);
	await threads.close();
});

/** A worker that answers when it is let. */
function heldWorker(first: Reply) {
	const { promise, resolve } = Promise.withResolvers<void>();
	const provider = scripted((request) => {
		if (who(request) === "worker") return { gate: promise, text: "A hole." };
		return provider.requests.filter((each) => who(each) === "boss").length === 1 ? first : "Fine.";
	});
	const asked = (): string[] => provider.requests.map(who);
	return { provider, asked, answer: () => resolve() };
}

test("a parent makes no further call until its child is finished, whose outcome is the result [SA-110]", async () => {
	const { provider, asked, answer } = heldWorker(call("worker", { task: "Dig." }));
	const { threads } = start(family(provider, { tools: [blocking] }));
	const { threadId } = await threads.createThread({ agentId: "boss", message: "Go" });
	await expect.poll(asked).toEqual(["boss", "worker"]);
	expect(await said(threads, threadId)).toEqual(["user: Go", "assistant: <worker>"]);
	answer();
	await settled(threads);
	expect(asked()).toEqual(["boss", "worker", "boss"]);
	expect(await said(threads, threadId)).toEqual([
		"user: Go",
		"assistant: <worker>",
		"tool: A hole.",
		"assistant: Fine.",
	]);
	await threads.close();
});

test("a child that is not waited for returns its reference at once, and its outcome is queued to the parent later [SA-111]", async () => {
	const { provider, asked, answer } = heldWorker(call("worker", { task: "Dig." }));
	const { threads } = start(family(provider, { tools: [{ ...blocking, blocking: false }] }));
	const { threadId } = await threads.createThread({ agentId: "boss", message: "Go" });
	await expect.poll(() => said(threads, threadId)).toContain("assistant: Fine.");
	const [child] = await children(threads, threadId);
	const messages = await said(threads, threadId);
	expect(messages[2]).toBe(`tool: ${JSON.stringify({ reference: child?.reference, status: "running" })}`);
	expect(JSON.stringify(messages)).not.toContain("A hole.");
	answer();
	await settled(threads);
	const { messages: all } = (await (await threads.get(threadId))?.getMessages({ includeSilent: true })) ?? {
		messages: [],
	};
	const queued = all.filter(({ content }) => String(content).includes("A hole."));
	expect(queued).toMatchObject([{ role: "user" }]);
	// It wakes the parent, who is asked with it.
	expect(asked().filter((name) => name === "boss")).toHaveLength(3);
	await threads.close();
});

test("listed files are copied into the child's own; a missing one is an error, and no child is created [SA-113]", async () => {
	const config = { ...blocking, initAttachmentsProperty: "files" };
	const provider = replies({
		boss: [
			call("worker", { task: "Read.", files: ["/none.txt"] }),
			call("worker", { task: "Read.", files: ["/notes/a.txt"] }),
			"Done.",
		],
		worker: ["Read."],
	});
	const { threads } = start(family(provider, { tools: [config] }));
	const state = await threads.createThread({ agentId: "boss" });
	await state.writeFile("/notes/a.txt", "hello", "text/plain");
	await say(threads, state.threadId, "Go");
	await settled(threads);
	const lines = await said(threads, state.threadId);
	expect(lines[2]).toBe('tool: The file "/none.txt" to pass on does not exist.');
	const found = await children(threads, state.threadId);
	expect(found).toHaveLength(1);
	const child = await state.getChildThread(found[0]?.reference ?? "");
	const [message] = (await child?.getMessages())?.messages ?? [];
	const path = message?.attachments?.[0]?.path ?? "";
	expect(path).toMatch(/^\/attachments\/.*a\.txt$/);
	expect(Buffer.from((await child?.readFile(path)) ?? new ArrayBuffer(0)).toString()).toBe("hello");
	await threads.close();
});

test("an immediate child is created once, before the first call, and not again; its own values are never shown [SA-114]", async () => {
	const config = {
		name: "worker",
		immediate: { nameEnv: "NICK", descriptionEnv: "TASK", scopedEnv: ["TOKEN"] },
	};
	const made: string[][] = [];
	const provider = scripted(async (request, at) => {
		if (who(request) === "worker") return "Ready.";
		const listed = await Promise.all([...open].map((each) => each.list()));
		made.push(listed.flat().map(({ agentId }) => agentId));
		return request.messages.at(-1)?.content === "Again" ? call("look") : `Reply ${at}.`;
	});
	const look = defineTool({ description: "x", execute: async () => ({ status: "success", result: "seen" }) });
	const project = family(provider, { tools: [config, "look"], own: { look } });
	const env = { NICK: "Spade", TASK: "Stand by.", TOKEN: "t0k3n-value" };
	const { threads, host } = start(project, { env });
	const open = new Set([threads]);
	const { threadId } = await threads.createThread({ agentId: "boss", message: "Go" });
	await settled(threads);
	await say(threads, threadId, "Again");
	await settled(threads);
	await threads.close();
	const { threads: restarted } = start(project, { env, host });
	open.add(restarted).delete(threads);
	await say(restarted, threadId, "Once more");
	await settled(restarted);
	const found = await children(restarted, threadId);
	expect(found).toMatchObject([{ threadName: "Spade", name: "worker" }]);
	// Each call of the parent's model, the first one too, found the one child.
	expect(made.length).toBeGreaterThanOrEqual(4);
	expect([...new Set(made.map(String))]).toEqual(["worker,boss"]);
	expect((await said(restarted, found[0]?.reference ?? ""))[0]).toBe("user: Stand by.");
	expect(await (await restarted.get(found[0]?.reference ?? ""))?.env("TOKEN")).toBe("t0k3n-value");
	expect(JSON.stringify(provider.requests)).not.toContain("t0k3n-value");
	await restarted.close();
});

test.each([
	["true", true],
	["1", true],
	["Yes", true],
	["TRUE", true],
	["no", false],
	["on", false],
	["10", false],
	["yes, please", false],
	["untrue", false],
	["", false],
	[undefined, false],
])("an optional sub-agent with the flag %j is offered: %j [SA-115]", async (flag, isOffered) => {
	const provider = replies({ boss: ["ok"] });
	const { threads } = start(family(provider, { tools: [{ ...blocking, optional: "FLAG" }] }));
	const state = await threads.createThread({ agentId: "boss" });
	if (flag !== undefined) await state.setEnv("FLAG", flag);
	await say(threads, state.threadId, "Go");
	const names = (provider.requests[0]?.tools ?? []).map((tool) => tool.function.name);
	expect(names).toEqual(isOffered ? ["worker"] : []);
	expect((await said(threads, state.threadId)).at(-1)).toBe("assistant: ok");
	await threads.close();
});

test("the lifecycle tools of sub-agents are offered only with a resumable one; without a name nothing is created [SA-116]", async () => {
	const names = ({ tools = [] }: Pick<ProviderRequest, "tools">): string[] =>
		tools.map((tool) => tool.function.name);
	const plain = replies({ boss: ["ok"] });
	const { threads: without } = start(family(plain, { tools: [blocking] }));
	await without.createThread({ agentId: "boss", message: "Go" });
	await settled(without);
	expect(names(plain.requests[0] ?? {})).toEqual(["worker"]);
	await without.close();
	const provider = replies({
		boss: [
			{
				calls: [
					{ name: "subagent_create", args: { message: "Dig." } },
					{ name: "subagent_create", args: { name: "", message: "Dig." } },
					{ name: "subagent_create", args: { name: "  \n", message: "Dig." } },
					{ name: "subagent_create", args: { name: "x", agent: "nobody", message: "Dig." } },
				],
			},
			"ok",
		],
	});
	const { threads } = start(family(provider, { tools: [resumable] }));
	const { threadId } = await threads.createThread({ agentId: "boss", message: "Go" });
	await settled(threads);
	expect(names(provider.requests[0] ?? {})).toEqual(["subagent_create", "subagent_message"]);
	expect(provider.requests[0]?.tools?.[0]?.function.parameters).toMatchObject({ required: ["name"] });
	const { messages } = (await (await threads.get(threadId))?.getMessages()) ?? { messages: [] };
	expect(messages.filter(({ role, status }) => role === "tool" && status === "failed")).toHaveLength(4);
	expect(await children(threads, threadId)).toEqual([]);
	await threads.close();
});

test("a message to an idle child starts a session there; one to an unknown, foreign or terminated child is an error [SA-117] [SA-120]", async () => {
	const provider = scripted((request) => {
		const last = request.messages.at(-1);
		const text = String(last?.content);
		if (who(request) === "worker") return `did: ${text}`;
		if (text === "create") return call("subagent_create", { name: "Digger", message: "Dig." });
		const to = /^to (?<reference>\S+)/.exec(text)?.groups?.reference;
		if (to !== undefined) return call("subagent_message", { reference: to, message: "More." });
		return "ok";
	});
	const { threads } = start(family(provider, { tools: [resumable] }));
	const { threadId } = await threads.createThread({ agentId: "boss", message: "create" });
	const stranger = await threads.createThread({ agentId: "worker" });
	await settled(threads);
	const reference = (await children(threads, threadId))[0]?.reference ?? "";
	// The child's end came as a silent message.
	const silent = (await (await threads.get(threadId))?.getMessages({ includeSilent: true }))?.messages.filter(
		(message) => message.silent,
	);
	expect(silent).toMatchObject([{ role: "user", content: expect.stringContaining("did: Dig.") }]);
	await say(threads, threadId, `to ${reference}`);
	await settled(threads);
	expect(await said(threads, reference)).toEqual([
		"user: Dig.",
		"assistant: did: Dig.",
		"user: More.",
		"assistant: did: More.",
	]);
	const { threadId: other } = await threads.createThread({ agentId: "boss", message: "create" });
	await settled(threads);
	const foreign = (await children(threads, other))[0]?.reference ?? "";
	await threads.terminate(reference);
	for (const nobody of ["nobody", stranger.threadId, foreign, reference]) {
		await say(threads, threadId, `to ${nobody}`);
		await settled(threads);
	}
	const { messages } = (await (await threads.get(threadId))?.getMessages()) ?? { messages: [] };
	const failed = messages.filter(({ role, status }) => role === "tool" && status === "failed");
	expect(failed.map(({ content }) => content)).toEqual([
		expect.stringContaining('"nobody"'),
		expect.stringContaining(stranger.threadId),
		expect.stringContaining(foreign),
		expect.stringContaining("terminated"),
	]);
	expect(await said(threads, stranger.threadId)).toEqual([]);
	expect(await said(threads, foreign)).toEqual(["user: Dig.", "assistant: did: Dig."]);
	await threads.close();
});

test.each([
	["side_a" as const, "a"],
	["side_b" as const, "b"],
])("messages of the parent for %s reach side %s [SA-118]", async (receives_messages, side) => {
	const provider = replies({
		boss: [call("subagent_create", { name: "Pair", message: "Talk." }), "ok", "ok"],
		worker: ["A"],
		other: ["B"],
	});
	const child = {
		type: "dual_ai" as const,
		sideA: { prompt: "worker_prompt" },
		sideB: { prompt: "other_prompt" },
		maxSessionTurns: 1,
	};
	const config = { name: "worker", resumable: { receives_messages } };
	const { threads } = start(family(provider, { tools: [config], child }));
	const { threadId } = await threads.createThread({ agentId: "boss", message: "Go" });
	await settled(threads);
	const [entry] = await children(threads, threadId);
	expect((await said(threads, entry?.reference ?? ""))[0]).toBe(
		side === "a" ? "user: Talk." : "assistant: Talk.",
	);
	const asked = provider.requests.filter((request) => who(request) !== "boss");
	expect(asked.map(who)).toEqual([side === "a" ? "worker" : "other"]);
	expect(asked[0]?.messages.at(-1)).toEqual({ role: "user", content: "Talk." });
	await threads.close();
});

test("at the limit of instances another one is an error, and the end of one allows the next [SA-119]", async () => {
	const create = (name: string) => ({ name: "subagent_create", args: { name } });
	const provider = replies({
		boss: [
			{ calls: [create("one"), create("two"), create("three")] },
			"full",
			call("subagent_create", { name: "four" }),
			"ok",
		],
	});
	const { threads } = start(family(provider, { tools: [resumable] }));
	const { threadId } = await threads.createThread({ agentId: "boss", message: "Go" });
	await settled(threads);
	expect((await children(threads, threadId)).map(({ threadName }) => threadName)).toEqual(["one", "two"]);
	expect((await said(threads, threadId))[4]).toMatch(/^tool: There are already 2 instances/);
	// Nobody could be made: it is not offered.
	expect(provider.requests[1]?.tools?.map((tool) => tool.function.name)).toEqual(["subagent_message"]);
	await threads.terminate((await children(threads, threadId))[0]?.reference ?? "");
	await say(threads, threadId, "Again");
	await settled(threads);
	expect(
		(await children(threads, threadId)).map(({ threadName, status }) => `${threadName} ${status}`),
	).toEqual(["one terminated", "two idle", "four idle"]);
	await threads.close();
});

test("with explicit communication only notifyParent reports: one silent message, which wakes the parent [SA-120] [SA-121]", async () => {
	const notify = defineTool({
		description: "x",
		execute: async (state) => {
			await state.notifyParent("Halfway.");
			return { status: "success", result: "told" };
		},
	});
	const gate = Promise.withResolvers<void>();
	const explicit = { receives_messages: "side_a" as const, parentCommunication: "explicit" as const };
	const provider = replies({
		boss: [call("subagent_create", { name: "Digger", message: "Dig." }), "Waiting.", "I heard."],
		worker: [{ ...call("notify"), gate: gate.promise }, "Dug.", call("notify"), "Dug again."],
	});
	const project = family(provider, {
		tools: [{ name: "worker", resumable: explicit }],
		childTools: ["notify"],
		own: { notify },
	});
	const { threads } = start(project);
	const { threadId } = await threads.createThread({ agentId: "boss", message: "Go" });
	await expect.poll(async () => (await said(threads, threadId)).at(-1)).toBe("assistant: Waiting.");
	gate.resolve();
	await settled(threads);
	const silent = (await (await threads.get(threadId))?.getMessages({ includeSilent: true }))?.messages.filter(
		(message) => message.silent,
	);
	expect(silent).toMatchObject([{ content: "Halfway.", silent: true }]);
	expect(provider.requests.filter((request) => who(request) === "boss")).toHaveLength(3);
	// On a root thread it does nothing.
	const root = await threads.createThread({ agentId: "worker", message: "Dig." });
	await settled(threads);
	expect(await said(threads, root.threadId)).toEqual([
		"user: Dig.",
		"assistant: <notify>",
		"tool: told",
		"assistant: Dug again.",
	]);
	await threads.close();
});

test("a registry entry carries every field, and its status follows the child, across restarts [SA-122]", async () => {
	const path = join(temporaryFolder(), "threads.db");
	const gate = Promise.withResolvers<void>();
	const provider = scripted((request) => {
		if (who(request) === "worker") return { text: "Dug.", gate: gate.promise };
		const { content } = request.messages.at(-1) ?? {};
		return content === "Go" ? call("subagent_create", { name: "Digger", message: "Dig." }) : "ok";
	});
	const project = family(provider, { tools: [resumable] });
	const first = sqliteHost(path);
	const { threads } = start(project, { host: first });
	const before = Date.now() * 1_000;
	const { threadId } = await threads.createThread({ agentId: "boss", message: "Go" });
	const statuses = async () => (await children(threads, threadId)).map(({ status }) => status);
	await expect.poll(statuses).toEqual(["running"]);
	const [child] = await children(threads, threadId);
	expect(child).toEqual({
		reference: expect.stringMatching(/./),
		name: "worker",
		title: "Worker",
		description: "Does work.",
		resumable: true,
		blocking: false,
		threadName: "Digger",
		spawnGroupId: expect.stringMatching(/./),
		createdAt: expect.any(Number),
		status: "running",
		parentCommunication: "implicit",
	});
	expect(Number.isInteger(child?.createdAt)).toBe(true);
	// Microseconds.
	expect(child?.createdAt).toBeGreaterThanOrEqual(before);
	expect(child?.createdAt).toBeLessThan(before * 2);
	gate.resolve();
	await settled(threads);
	const idle = await children(threads, threadId);
	expect(idle).toEqual([{ ...child, status: "idle" }]);
	await threads.close();
	await first.close();
	const second = sqliteHost(path);
	const { threads: restarted } = start(project, { host: second });
	expect(await children(restarted, threadId)).toEqual(idle);
	const reference = child?.reference ?? "";
	await (await restarted.get(reference))?.setStatus("digging deeper");
	expect((await children(restarted, threadId))[0]?.status).toBe("digging deeper");
	await restarted.terminate(reference);
	expect((await children(restarted, threadId))[0]?.status).toBe("terminated");
	await restarted.close();
	await second.close();
});

test("a state is found only for a thread's own children and parent [SA-123]", async () => {
	const provider = replies({ boss: [call("worker", { task: "Dig." }), "Dug."], worker: ["A hole."] });
	const { threads } = start(family(provider, { tools: [blocking] }));
	const state = await threads.createThread({ agentId: "boss", message: "Go" });
	const stranger = await threads.createThread({ agentId: "worker" });
	await settled(threads);
	const [entry] = await children(threads, state.threadId);
	const child = await state.getChildThread(entry?.reference ?? "");
	expect(child?.threadId).toBe(entry?.reference);
	expect((await child?.getParentThread())?.threadId).toBe(state.threadId);
	expect(await state.getChildThread(stranger.threadId)).toBeNull();
	expect(await state.getChildThread("nobody")).toBeNull();
	expect(await stranger.getChildThread(child?.threadId ?? "")).toBeNull();
	expect(await state.getParentThread()).toBeNull();
	await threads.close();
});

test("terminating a parent terminates its children, and terminating a child affects no other [SA-125]", async () => {
	const create = (name: string) => ({ name: "subagent_create", args: { name, message: "Dig." } });
	const asked: string[] = [];
	const provider = scripted((request) => {
		if (who(request) === "worker") {
			asked.push("worker");
			return { gate: new Promise(() => {}) };
		}
		return request.messages.at(-1)?.role === "user" ? { calls: [create("one"), create("two")] } : "ok";
	});
	const { threads, host } = start(family(provider, { tools: [resumable] }));
	const { threadId } = await threads.createThread({ agentId: "boss", message: "Go" });
	await expect.poll(() => asked.length).toBe(2);
	const [one, two] = await children(threads, threadId);
	await threads.terminate(one?.reference ?? "");
	expect((await threads.get(threadId))?.terminated).toBeNull();
	expect((await children(threads, threadId)).map(({ status }) => status)).toEqual(["terminated", "running"]);
	await threads.terminate(threadId);
	expect((await children(threads, threadId)).map(({ status }) => status)).toEqual([
		"terminated",
		"terminated",
	]);
	await settled(threads);
	expect((await host.journal.head(two?.reference ?? ""))?.openRunId).toBeUndefined();
	await threads.close();
});

/** The time that a hook takes: others have their chance meanwhile. */
async function turns(): Promise<void> {
	for (let turn = 0; turn < 50; turn++) await new Promise((resolve) => setImmediate(resolve));
}

test("a child's hooks of creation run before its parent's, and both before its first call [SA-054]", async () => {
	const log: unknown[] = [];
	const provider = scripted((request) => {
		log.push(`asks ${who(request)}`);
		if (who(request) === "worker") return "A hole.";
		return request.messages.at(-1)?.role === "user" ? call("worker", { task: "Dig." }) : "Dug.";
	});
	const hooks = [
		defineHook({
			hook: "after_thread_created",
			id: "made",
			execute: async (state) => {
				await turns();
				log.push(`made ${state.agentId}`);
			},
		}),
		defineHook({
			hook: "after_subagent_created",
			id: "child_made",
			execute: async (state, child) => {
				await turns();
				log.push([state.agentId, child.agentId, child.threadId !== state.threadId]);
			},
		}),
	];
	const parent = { hooks: ["made", "child_made"] };
	const { threads } = start(
		family(provider, { tools: [blocking], hooks, parent, child: { hooks: ["made"] } }),
	);
	await threads.createThread({ agentId: "boss", message: "Go" });
	await settled(threads);
	expect(log).toEqual([
		"made boss",
		"asks boss",
		"made worker",
		["boss", "worker", true],
		"asks worker",
		"asks boss",
	]);
	await threads.close();
});

test("the outcome of a session is the result that its parent waits for: success, or an error [SA-011] [SA-012]", async () => {
	const args = z.object({ text: z.string() });
	const execute = async () => ({ status: "success" as const, result: "plain" });
	const finish = defineTool({ description: "x", args, execute });
	const giveUp = defineTool({ description: "x", args, execute });
	const run = async (name: string, child: Partial<AgentDefinition["sideA"]>): Promise<unknown> => {
		const provider = replies({
			boss: [call("worker", { task: "Dig." }), "ok"],
			worker: [call(name, { text: "because" }), "never"],
		});
		const project = family(provider, {
			tools: [blocking],
			childTools: ["finish", "giveUp"],
			own: { finish, giveUp },
			child: { sideA: { prompt: "worker_prompt", ...child } },
		});
		const { threads } = start(project);
		const { threadId } = await threads.createThread({ agentId: "boss", message: "Go" });
		await settled(threads);
		const { messages } = (await (await threads.get(threadId))?.getMessages()) ?? { messages: [] };
		await threads.close();
		const asked = provider.requests.filter((request) => who(request) === "worker").length;
		return [messages[2]?.content, messages[2]?.status, asked];
	};
	expect(await run("finish", { sessionStop: "finish" })).toEqual(["plain", "completed", 1]);
	const bound = { name: "giveUp", messageProperty: "text" };
	expect(await run("giveUp", { sessionFail: bound })).toEqual(["because", "failed", 1]);
});

test.each(["a", "b"] as const)(
	"side %s of a child ends its session, as a success or a failure, with the files that its call names [SA-011] [SA-012]",
	async (side) => {
		const end = defineTool({
			description: "x",
			args: z.object({ text: z.string(), files: z.array(z.string()) }),
			execute: async (state) => {
				await state.writeFile("report.txt", "all of it");
				return { status: "success", result: "plain" };
			},
		});
		const run = async (binding: "sessionStop" | "sessionFail"): Promise<unknown> => {
			const ends = call("end", { text: "because", files: ["report.txt"] });
			const provider = replies({
				boss: [call("worker", { task: "Dig." }), "ok"],
				worker: side === "a" ? [ends, "never"] : ["Begun.", ends, "never"],
			});
			const bound = { name: "end", messageProperty: "text", attachmentsProperty: "files" };
			const prompt = "worker_prompt";
			const project = family(provider, {
				tools: [blocking],
				childTools: ["end"],
				own: { end },
				child: {
					type: "dual_ai",
					sideA: { prompt, ...(side === "a" ? { [binding]: bound } : {}) },
					sideB: { prompt, ...(side === "b" ? { [binding]: bound } : {}) },
				},
			});
			const { threads } = start(project);
			const state = await threads.createThread({ agentId: "boss", message: "Go" });
			await settled(threads);
			const result = (await state.getMessages()).messages[2];
			const texts = await Promise.all(
				(result?.attachments ?? []).map(async ({ path }) =>
					Buffer.from((await state.readFile(path)) ?? new ArrayBuffer(0)).toString(),
				),
			);
			await threads.close();
			const asked = provider.requests.filter((request) => who(request) === "worker").length;
			return [result?.content, result?.status, texts, asked];
		};
		const turns = side === "a" ? 1 : 2;
		expect(await run("sessionStop")).toEqual(["because", "completed", ["all of it"], turns]);
		expect(await run("sessionFail")).toEqual(["because", "failed", [], turns]);
	},
);
