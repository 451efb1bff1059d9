// The environment and the values of threads as their tools have them, and what nobody may read of them.
import { expect, test } from "vitest";
import {
	defineAgent,
	defineEffect,
	defineHook,
	definePrompt,
	defineTool,
	ProviderError,
} from "../define/index.ts";
import type { EnvGiven } from "../environment/index.ts";
import type { PromptDefinition, ThreadState } from "../types/index.ts";
import { oneAgent, type Reply, said, say, scripted, start } from "./threads.fixture.ts";

const call = (name: string, args: unknown = {}): Reply => ({ calls: [{ name, args }] });
/** A tool that does something with its thread. */
const does = (run: (state: ThreadState) => unknown) =>
	defineTool({
		description: "x",
		execute: async (state) => ({ status: "success", result: String((await run(state)) ?? "done") }),
	});

test("a tool reads a name from the thread, the agent, the prompt, the user's account and the instance, in this order [SA-086] [SA-088]", async () => {
	const sources = ["thread", "agent", "prompt", "user", "instance"];
	for (const [at, source] of sources.entries()) {
		const given = (name: string): Record<string, string> =>
			sources.indexOf(name) >= at ? { KEY: name } : {};
		const shown = (name: string): EnvGiven =>
			sources.indexOf(name) >= at ? { KEY: { value: name, type: "text" } } : {};
		const seen: unknown[] = [];
		const read = does(async (state) => void seen.push([await state.env("KEY"), await state.envType("KEY")]));
		const project = oneAgent(scripted([call("read"), "ok"]), {
			tools: { read },
			agent: { env: given("agent") },
			prompt: { env: given("prompt") },
		});
		const { threads } = start(project, { env: shown("instance"), userEnv: () => shown("user") });
		const state = await threads.createThread({ agentId: "helper", userId: "ann" });
		if (at === 0) await state.setEnv("KEY", "thread", { type: "text" });
		await say(threads, state.threadId, "Go");
		expect(seen).toEqual([[source, source === "agent" || source === "prompt" ? "secret" : "text"]]);
		await threads.close();
	}
});

/** A helper whose worker calls one tool, in a thread of its own. */
async function withWorker(run: (state: ThreadState) => unknown, parent: (state: ThreadState) => unknown) {
	const provider = scripted(({ messages }) => {
		if (messages.at(-1)?.role === "tool") return "ok";
		return messages[0]?.content === "You work." ? call("act") : call("worker", { task: "Work." });
	});
	const variables = [
		{ name: "SCOPED", type: "text" as const, required: false, scoped: true, description: "Stays here." },
	];
	const project = oneAgent(provider, {
		tools: { act: does(run) },
		prompt: { tools: [{ name: "worker", initUserMessageProperty: "task" }], variables },
		agents: [
			defineAgent({
				name: "worker",
				exposeAsTool: true,
				toolDescription: "Works.",
				sideA: { prompt: "work" },
			}),
		],
		prompts: [
			definePrompt({
				name: "work",
				toolDescription: "Works.",
				prompt: "You work.",
				model: "main",
				tools: ["act"],
			}) as PromptDefinition,
		],
	});
	const { threads } = start(project);
	const state = await threads.createThread({ agentId: "helper" });
	await parent(state);
	await say(threads, state.threadId, "Go");
	await expect.poll(async () => (await said(threads, state.threadId)).at(-1)).toBe("assistant: ok");
	return { threads, state };
}

test("a sub-agent reads what its parent has set, unless it is scoped or the sub-agent has set its own [SA-090]", async () => {
	const seen: unknown[] = [];
	const read = async (state: ThreadState, name: string): Promise<string> =>
		state.env(name).catch(({ code }: { code: string }) => code);
	const { threads, state } = await withWorker(
		async (child) => {
			seen.push(await read(child, "REGION"), await read(child, "SCOPED"));
			await child.setEnv("REGION", "south", { type: "text" });
			seen.push(await read(child, "REGION"));
		},
		async (parent) => {
			await parent.setEnv("REGION", "north", { type: "text" });
			await parent.setEnv("SCOPED", "mine", { type: "text" });
		},
	);
	expect(seen).toEqual(["north", "env_not_set", "south"]);
	expect([await read(state, "REGION"), await read(state, "SCOPED")]).toEqual(["north", "mine"]);
	await threads.close();
});

test("a sub-agent's values start empty, and are never visible in its parent [SA-098]", async () => {
	const seen: unknown[] = [];
	const { threads, state } = await withWorker(
		async (child) => {
			seen.push(await child.getValue("k"));
			await child.setValue("k", "the child's");
			await child.setValue("more", 1);
		},
		(parent) => parent.setValue("k", "the parent's"),
	);
	expect(seen).toEqual([null]);
	expect([await state.getValue("k"), await state.getValue("more")]).toEqual(["the parent's", null]);
	await threads.close();
});

const secrets = {
	INSTANCE: "instance-horse",
	USER: "user-horse",
	AGENT: "agent-horse",
	PROMPT: "prompt-horse",
	TOOL: "tool-horse",
	OWN: "own-horse",
	CALLED: "called-horse",
};
const horse = /\b\w+-horse/;

test("a result contains no secret of any source, and neither does an error with its stack [SA-091] [SA-092]", async () => {
	const all = (state: ThreadState): Promise<string[]> =>
		Promise.all(
			["INSTANCE", "USER", "AGENT", "PROMPT", "TOOL", "OWN", "SHOWN"].map((name) => state.env(name)),
		);
	const tell = does(async (state) => (await all(state)).join(" "));
	const fail = defineTool({
		description: "x",
		execute: async (state) => {
			throw new Error(`no ${(await all(state)).join(" ")}`);
		},
	});
	// A prompt that is called brings values of its own, which its model may say.
	const called = definePrompt({
		name: "called",
		toolDescription: "x",
		model: "main",
		env: { CALLED: secrets.CALLED },
		prompt: [{ type: "env", property: "CALLED" }],
	}) as PromptDefinition;
	const provider = scripted([
		{ calls: [{ name: "tell" }, { name: "fail" }, { name: "called", args: { message: "Say it." } }] },
		`It is ${secrets.CALLED}.`,
		"ok",
	]);
	const env = { TOOL: secrets.TOOL };
	const project = oneAgent(provider, {
		tools: { tell, fail },
		agent: { env: { AGENT: secrets.AGENT } },
		prompt: {
			env: { PROMPT: secrets.PROMPT },
			tools: [{ name: "tell", env }, { name: "fail", env }, "called"],
		},
		prompts: [called],
	});
	const { threads, host } = start(project, {
		env: { INSTANCE: secrets.INSTANCE, SHOWN: { value: "shown-text", type: "text" } },
		userEnv: () => ({ USER: secrets.USER }),
	});
	const state = await threads.createThread({ agentId: "helper", userId: "ann" });
	await state.setEnv("OWN", secrets.OWN);
	await say(threads, state.threadId, "Go");
	const mark = "[REDACTED:secret]";
	const masked = `${Array(6).fill(mark).join(" ")} shown-text`;
	expect(await said(threads, state.threadId)).toEqual([
		"user: Go",
		"assistant: <tell> <fail> <called>",
		`tool: ${masked}`,
		`tool: no ${masked}`,
		`tool: It is ${mark}.`,
		"assistant: ok",
	]);
	expect(JSON.stringify(provider.requests[2])).not.toMatch(horse);
	expect(provider.requests[2]?.messages.at(-3)?.content).toBe(masked);
	expect(JSON.stringify(await host.journal.read(state.threadId))).not.toMatch(horse);
	await threads.close();
});

test("no log entry contains a secret: of hooks, of models, of requests and of effects [SA-092]", async () => {
	const hooks = [
		defineHook({
			hook: "after_system_message",
			id: "fails",
			execute: async (state) => {
				throw new Error(
					`no ${await state.env("AGENT")} ${await state.env("OWN")} ${await state.env("SHOWN")}`,
				);
			},
		}),
	];
	const down = new ProviderError(`${secrets.INSTANCE} is refused`, "server_error");
	const provider = scripted([{ text: "Hm.", error: down }]);
	const project = oneAgent(provider, {
		hooks,
		agent: { env: { AGENT: secrets.AGENT }, hooks: ["fails"] },
		prompt: { prompt: [{ type: "env", property: "OWN" }] },
		effects: {
			later: defineEffect("x", async (state) => {
				throw new Error(
					`no ${await state.env("AGENT")} ${await state.env("OWN")} ${await state.env("SHOWN")}`,
				);
			}),
		},
	});
	const { threads, logs } = start(project, {
		env: { INSTANCE: secrets.INSTANCE, SHOWN: { value: "shown-text", type: "text" } },
		logRequests: true,
	});
	const state = await threads.createThread({ agentId: "helper" });
	await state.setEnv("OWN", secrets.OWN);
	await say(threads, state.threadId, "Go");
	expect(logs.map(({ topic }) => topic)).toEqual(["hook", "request", "model"]);
	expect(logs[0]?.message).toMatch(/no \[REDACTED:secret\] \[REDACTED:secret\] shown-text$/);
	expect(logs[2]?.message).toContain("[REDACTED:secret] is refused");
	await state.scheduleEffect("later");
	await expect.poll(() => logs.at(-1)?.topic).toBe("effect");
	expect(logs.at(-1)?.message).toMatch(/no \[REDACTED:secret\] \[REDACTED:secret\] shown-text$/);
	const effects = async () => (await threads.effects(state.threadId).all()).map(({ error }) => error);
	await expect.poll(effects).toEqual(["no [REDACTED:secret] [REDACTED:secret] shown-text"]);
	expect(JSON.stringify(logs)).not.toMatch(horse);
	await threads.close();
});

test("a log entry is withheld if the secrets of its thread cannot be read [SA-092]", async () => {
	const provider = scripted([{ error: new ProviderError(secrets.INSTANCE, "server_error") }]);
	let reads = Number.NEGATIVE_INFINITY;
	const { threads, logs } = start(oneAgent(provider), {
		env: { INSTANCE: secrets.INSTANCE },
		userEnv: () => {
			// The first is for the request.
			if (++reads > 1) throw new Error("no accounts");
			return {};
		},
	});
	const { threadId } = await threads.createThread({ agentId: "helper", userId: "ann" });
	reads = 0;
	await say(threads, threadId, "Go");
	expect(logs).toEqual([
		{ threadId, level: "error", topic: "model", message: expect.stringContaining("withheld") },
	]);
	await threads.close();
});

test("a secret that a user typed is masked for the model, in every message and form, and is recorded as typed", async () => {
	const typed = `My key is ${secrets.INSTANCE}, ${encodeURIComponent(secrets.INSTANCE)}.`;
	const seen: unknown[] = [];
	const provider = scripted(["One.", "Two."]);
	const project = oneAgent(provider, { prompt: { prompt: "You help." } });
	const { threads } = start(project, {
		env: { INSTANCE: secrets.INSTANCE, SHOWN: { value: "shown-text", type: "text" } },
	});
	const { threadId } = await threads.createThread({ agentId: "helper" });
	await say(threads, threadId, typed);
	await say(threads, threadId, "It is shown-text");
	for (const { messages } of provider.requests) seen.push(messages);
	const text = JSON.stringify(seen);
	expect(text).not.toContain(secrets.INSTANCE);
	expect(text).toContain("My key is [REDACTED:secret], [REDACTED:secret].");
	expect(text).toContain("It is shown-text");
	await threads.close();
});

test("a secret is masked in a result once it was read or set here, and within a second if another process set it [SA-091]", async () => {
	let now = 1_700_000_000_000;
	const clock = { now: () => now, monotonic: () => performance.now() };
	const tools = {
		say: does(() => "first-4711"),
		wait: does(async ({ threadId }) => {
			await (await others.get(threadId))?.setEnv("FIRST", "first-4711");
			now += 1_000;
			return "first-4711";
		}),
		set: does(async (state) => {
			await state.setEnv("SECOND", "second-4711");
			return "second-4711";
		}),
		read: does(async (state) => {
			await (await others.get(state.threadId))?.setEnv("THIRD", "third-4711");
			return state.env("THIRD");
		}),
	};
	const project = oneAgent(scripted([...Object.keys(tools).map((name) => call(name)), "ok"]), { tools });
	const { threads, host } = start(project, { ports: { clock } });
	const { threads: others } = start(project, { host });
	const { threadId } = await threads.createThread({ agentId: "helper" });
	await say(threads, threadId, "Go");
	const marked = "tool: [REDACTED:secret]";
	expect((await said(threads, threadId)).filter((line) => line.startsWith("tool:"))).toEqual([
		"tool: first-4711",
		marked,
		marked,
		marked,
	]);
	await others.close();
	await threads.close();
});
