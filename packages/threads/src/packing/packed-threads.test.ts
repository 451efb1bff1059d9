// Code of packages at work: it finds its own items and nothing else, and the project finds what packages declare.
import { memoryHost } from "holdfast";
import { describe, expect, test } from "vitest";
import { loadProject } from "../load/index.ts";
import { agentSource, type Files, promptSource, writeProject } from "../project.fixture.ts";
import { threads } from "../thread/index.ts";

/** A provider that calls the tool `probe` once and then says what it returned. */
const provider = `export default () => ({
	name: "script",
	specificationVersion: "1",
	generate: () => Promise.reject(new Error("it streams")),
	async *stream({ messages }) {
		const last = messages.at(-1);
		const usage = { promptTokens: 0, completionTokens: 0, totalTokens: 0 };
		if (last.role === "tool") {
			yield { type: "content-delta", delta: last.content };
			yield { type: "finish", finishReason: "stop", usage };
			return;
		}
		yield { type: "tool-call-start", id: "call_1", name: "probe" };
		yield { type: "tool-call-done", id: "call_1", arguments: {} };
		yield { type: "finish", finishReason: "tool_calls", usage };
	},
});`;

const model = `import provider from "../providers/script.ts";
export default { name: "m", model: "x", provider };`;
const effect = `export default { description: "x", handler: () => {} };`;
const own = `export default { description: "x", execute: () => ({ status: "success", result: "own" }) };`;

/** Tries what a thread can be asked for, and reports each as what it gave or the code of its error. */
const probe = (
	names: Readonly<Record<"prompts" | "agents" | "models" | "tools" | "effects", readonly string[]>>,
): string => `
const tryIt = async (ask) => {
	try { return await ask(); } catch (error) { return "refused: " + error.code; }
};
export default { description: "x", execute: async (state) => {
	const found = {};
	for (const name of ${JSON.stringify(names.prompts)}) found["prompt " + name] = await tryIt(async () => (await state.loadPrompt(name)).name);
	for (const name of ${JSON.stringify(names.agents)}) found["agent " + name] = await tryIt(async () => (await state.loadAgent(name)).name);
	for (const name of ${JSON.stringify(names.models)}) found["model " + name] = await tryIt(async () => (await state.loadModel(name)).name);
	for (const name of ${JSON.stringify(names.tools)}) {
		found["invoke " + name] = await tryIt(async () => { const { status, result } = await state.invokeTool(name); return status === "success" ? result : "refused"; });
		if (name.includes("probe")) continue;
		found["queue " + name] = await tryIt(async () => { await state.queueTool(name); return "queued"; });
	}
	for (const name of ${JSON.stringify(names.effects)}) found["effect " + name] = await tryIt(async () => typeof await state.scheduleEffect(name, {}, 1e9));
	found.lists = [await state.getPromptNames(), await state.getAgentNames(), await state.getModelNames()];
	return { status: "success", result: JSON.stringify(found) };
} };`;

function packageOf(name: string, tool: string): Files {
	const folder = `agents/packed/${name}`;
	return {
		[`${folder}/package.json`]: {
			name,
			type: "module",
			standardagent: { entryAgents: ["front"], effects: ["tidy"] },
		},
		[`${folder}/agents/agents/front.ts`]: agentSource("front", "talk"),
		[`${folder}/agents/agents/back.ts`]: agentSource("back", "talk"),
		[`${folder}/agents/prompts/talk.ts`]: promptSource("talk", `tools: ["probe"]`).replace('"small"', '"m"'),
		[`${folder}/agents/tools/probe.ts`]: tool,
		[`${folder}/agents/tools/own.ts`]: own,
		[`${folder}/agents/effects/tidy.ts`]: effect,
		[`${folder}/agents/effects/inner.ts`]: effect,
		[`${folder}/agents/models/m.ts`]: model,
		[`${folder}/agents/providers/script.ts`]: provider,
	};
}

/** What the tool of an agent found out. */
async function probed(agentId: string, tool: string): Promise<Record<string, unknown>> {
	const project = await loadProject(
		writeProject({
			"agents/agents/helper.ts": agentSource("helper", "help"),
			"agents/prompts/help.ts": promptSource("help", `tools: ["probe"]`).replace('"small"', '"local"'),
			"agents/models/local.ts": model.replace('"m"', '"local"'),
			"agents/providers/script.ts": provider,
			"agents/tools/probe.ts": tool,
			"agents/tools/local.ts": own,
			"agents/effects/nightly.ts": effect,
			...packageOf("shop", tool),
			...packageOf("bank", tool),
		}),
	);
	const running = threads({ project, host: memoryHost() });
	const thread = await running.createThread({ agentId, message: "Go" });
	await running.quiet();
	const { messages } = await thread.getMessages();
	await running.close();
	const result = messages.find(({ role }) => role === "tool")?.content ?? "";
	return JSON.parse(result) as Record<string, unknown>;
}

describe("names that code can resolve", () => {
	test("code of a package finds its own items; those of the project and of another package do not exist for it [SA-212]", async () => {
		const foreign = {
			prompts: ["help", "bank/talk"],
			agents: ["helper", "bank/front"],
			models: ["local", "bank/m"],
			tools: ["local", "bank/own"],
			effects: ["nightly", "bank/tidy"],
		};
		const unknown = {
			prompts: ["none"],
			agents: ["none"],
			models: ["none"],
			tools: ["none"],
			effects: ["none"],
		};
		const found = await probed("shop/front", probe(foreign));
		const missing = await probed("shop/front", probe(unknown));
		const { lists, ...answers } = found;
		for (const [question, answer] of Object.entries(answers))
			expect([question, answer]).toEqual([question, missing[`${question.split(" ")[0]} none`]]);
		expect(Object.values(answers).every((answer) => String(answer).startsWith("refused"))).toBe(true);
		expect(lists).toEqual([["talk"], ["back", "front"], ["m"]]);
		const mine = { prompts: ["talk"], agents: ["back"], models: ["m"], tools: ["own"], effects: ["inner"] };
		const { lists: _, ...kept } = await probed("shop/front", probe(mine));
		expect(kept).toEqual({
			"prompt talk": "talk",
			"agent back": "back",
			"model m": "m",
			"invoke own": "own",
			"queue own": "queued",
			"effect inner": "string",
		});
	});

	test("code of the project finds only what packages declare [SA-211]", async () => {
		const { lists, ...answers } = await probed(
			"helper",
			probe({
				prompts: ["help", "shop/talk", "talk"],
				agents: ["shop/front", "shop/back", "back"],
				models: ["local", "shop/m"],
				tools: ["local", "shop/own"],
				effects: ["nightly", "shop/tidy", "shop/inner", "tidy"],
			}),
		);
		const refused = Object.entries(answers).filter(([, answer]) => String(answer).startsWith("refused"));
		expect(refused.map(([question]) => question)).toEqual([
			"prompt shop/talk",
			"prompt talk",
			"agent shop/back",
			"agent back",
			"model shop/m",
			"invoke shop/own",
			"queue shop/own",
			"effect shop/inner",
			"effect tidy",
		]);
		expect(lists).toEqual([["help"], ["bank/front", "helper", "shop/front"], ["local"]]);
	});
});
