// Whether a shown request is the one that was sent: compared with what the model received.
import { scriptedModel } from "@holdfast/testing";
import { Agent, type AgentOptions, memoryHost, tool } from "holdfast";
import { plan, react } from "holdfast/execution";
import { compaction, definePlugin } from "holdfast/plugins";
import { afterEach, describe, expect, test } from "vitest";
import type { ShownStep } from "../wire/index.ts";
import { type Inspected, inspect } from "./inspected.fixture.ts";

const opened: Inspected[] = [];
afterEach(async () => {
	for (const each of opened.splice(0)) await each.close();
});

const add = tool({ name: "add", description: "Adds.", parameters: { type: "object" }, run: () => 3 });
const rare = tool({
	...{ name: "rare", description: "Is loaded first.", parameters: { type: "object" }, run: () => 1 },
	loadedBy: "add",
});
const loads = tool({
	...{ name: "add", description: "Loads.", parameters: { type: "object" } },
	run: (_: unknown, { loadable }) => {
		loadable?.load(["rare"]);
		return "loaded";
	},
});
const call = { toolCalls: [{ name: "add", arguments: {} }] };

function open(
	replies: Parameters<typeof scriptedModel>[0],
	agent: Partial<AgentOptions>,
	host = memoryHost(),
) {
	const model = scriptedModel(replies, { modelId: "clever-1" });
	const made = inspect([], { host, agent: { model, system: "Be brief.", ...agent } });
	opened.push(made);
	const steps = async (sessionId: string): Promise<ShownStep[]> => {
		const { entries } = (await made.get(`session/${sessionId}/entries`)).body;
		const seqs = entries.filter(({ kind }: { kind: string }) => kind === "assistant");
		return Promise.all(
			seqs.map(
				async ({ seq }: { seq: number }) => (await made.get(`session/${sessionId}/steps/${seq}`)).body,
			),
		);
	};
	return { ...made, model, steps };
}

const same = { model: "same", instructions: "same", tools: "same", messages: "same" };
const helper = new Agent({ name: "helper", description: "Helps.", model: scriptedModel(() => "Helped.") });
const manners = definePlugin({
	name: "manners",
	setup(host) {
		host.instructions("Say please.");
	},
});

describe("a request that is shown as sent", () => {
	const agents: Readonly<Record<string, Partial<AgentOptions>>> = {
		"of an agent with tools": { tools: [add] },
		"of an agent with sub-agents and plugins": { tools: [add], subagents: [helper], plugins: [manners] },
		"with tools that were loaded": { tools: [loads, rare] },
		"with fewer tools in a step": {
			tools: [add, { ...add, name: "sub" }],
			prepareStep: ({ step }) => (step === 1 ? { activeTools: ["add"] } : undefined),
		},
	};
	test.each(Object.entries(agents))("%s is the one that the model received", async (_, agent) => {
		const { model, say, steps } = open([call, "It is 3.", "Again."], agent);
		await say("s", "1 + 2?");
		await say("s", "And now?");
		const shown = await steps("s");
		expect(shown).toHaveLength(3);
		for (const [index, { request, parts }] of shown.entries()) {
			const { system, tools = [], messages = [] } = model.requests[index] ?? {};
			expect(parts).toEqual(same);
			expect(request.system).toBe(system);
			expect(request.tools).toEqual(
				tools.map(({ name, description, parameters }) => ({ name, description, parameters })),
			);
			expect(request.messages.map((message) => (message as { id: string }).id)).toEqual(
				messages.map(({ id }) => id),
			);
		}
	});
});

test("a request of another release shows which parts are no longer those that were sent", async () => {
	const host = memoryHost();
	const before = open(["Hi."], { tools: [add] }, host);
	await before.say("s", "Hello");
	const parts = async (agent: Partial<AgentOptions>) =>
		(await open(["Hi."], { tools: [add], ...agent }, host).steps("s"))[0]?.parts;
	expect(await parts({})).toEqual(same);
	expect(await parts({ system: "Be long." })).toEqual({ ...same, instructions: "differs" });
	expect(await parts({ tools: [] })).toEqual({ ...same, tools: "differs" });
	expect(await parts({ tools: [{ ...add, description: "Subtracts." }], system: "Other." })).toEqual({
		...{ ...same, instructions: "differs", tools: "differs" },
	});
});

test("a request whose messages a plugin changed is not shown as sent", async () => {
	const summarise = () => "They greeted each other.";
	const { model, say, steps } = open(() => "Hi. ".repeat(200), {
		plugins: [compaction({ maxTokens: 400, keepRecent: 2, summarise })],
	});
	for (const input of ["Hello", "Hello again", "And again"]) await say("s", input);
	const shown = await steps("s");
	const isAlike = shown.map(
		({ request }, at) => request.messages.length === model.requests[at]?.messages.length,
	);
	expect(shown.map(({ parts }) => parts.messages)).toEqual(["same", "same", "differs"]);
	expect(isAlike).toEqual([true, true, false]);
});

test("a request shows that its strategy added a message, and withheld the tools", async () => {
	const steps = [{ description: "Add.", tool: "add" }];
	const planning = open([JSON.stringify({ steps }), call, "Done.", "Done."], {
		tools: [add],
		execution: plan(),
	});
	await planning.say("s", "Hello").catch(() => {});
	const [first] = await planning.steps("s");
	expect(first).toMatchObject({ parts: same, strategy: { tools: "withheld", prompt: expect.any(String) } });
	expect(first?.request.tools).toEqual([]);
	expect(planning.model.requests[0]?.tools ?? []).toEqual([]);
	const reasoning = open(["I think.", "Done."], { tools: [add], execution: react() });
	await reasoning.say("s", "Hello");
	expect((await reasoning.steps("s"))[0]).toMatchObject({ parts: same, strategy: { tools: "shown" } });
	expect(reasoning.model.requests[0]?.tools).toHaveLength(1);
});

test("what is sent of instructions with a credential stays masked", async () => {
	const key = "sk-abcDEF0123456789abcDEF0123456789";
	const { say, steps } = open(["Hi."], { system: `Use ${key}.` });
	await say("s", "Hello");
	const [step] = await steps("s");
	expect(step?.parts).toEqual(same);
	expect(JSON.stringify(step)).not.toContain(key);
});
