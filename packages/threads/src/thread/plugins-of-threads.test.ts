import { tool } from "holdfast";
import { slidingWindow } from "holdfast/middleware";
import { definePlugin, type Plugin } from "holdfast/plugins";
import { expect, onTestFinished, test } from "vitest";
import { oneAgent, type Reply, said, say, scripted, start } from "./threads.fixture.ts";
import type { ThreadsOptions } from "./threads-options.ts";

const parameters = {
	type: "object" as const,
	properties: { city: { type: "string" as const } },
	required: ["city"],
};
const weather = (instructions: string | (() => string)): Plugin =>
	definePlugin({
		name: "weather",
		setup(host) {
			host.instructions(instructions);
			host.tool(
				tool<{ city: string }>({
					name: "weather",
					description: "The weather of a city.",
					parameters,
					run: async ({ city }, context) => {
						const asked = ((await host.values(context).get("asked")) ?? 0) as number;
						await host.values(context).set("asked", asked + 1);
						return `Sun in ${city}, asked ${asked + 1}.`;
					},
				}),
			);
		},
	});
const ask = (id: string): Reply => ({ calls: [{ name: "weather", args: { city: "Oslo" }, id }] });

test("a plugin's instructions follow the prompt, and the model can call its tools", async () => {
	const provider = scripted([ask("c1"), ask("c2"), "Sun."]);
	const { threads } = start(oneAgent(provider), { plugins: [weather("Name the city.")] });
	onTestFinished(() => threads.close());
	const { threadId } = await threads.createThread({ agentId: "helper" });
	await say(threads, threadId, "Weather?");
	expect(provider.requests[0]?.messages[0]).toEqual({
		role: "system",
		content: "You help.\n\nName the city.",
	});
	expect(provider.requests[0]?.tools).toEqual([
		{ type: "function", function: { name: "weather", description: "The weather of a city.", parameters } },
	]);
	expect(await said(threads, threadId)).toEqual([
		"user: Weather?",
		"assistant: <weather>",
		"tool: Sun in Oslo, asked 1.",
		"assistant: <weather>",
		"tool: Sun in Oslo, asked 2.",
		"assistant: Sun.",
	]);
});

test("a function of instructions is called once for each execution", async () => {
	const provider = scripted([ask("c1"), "Sun.", "Still."]);
	let asked = 0;
	const { threads } = start(oneAgent(provider), { plugins: [weather(() => `Version ${++asked}.`)] });
	onTestFinished(() => threads.close());
	const { threadId } = await threads.createThread({ agentId: "helper" });
	await say(threads, threadId, "Weather?");
	await say(threads, threadId, "And now?");
	expect(provider.requests.map(({ messages }) => messages[0]?.content)).toEqual([
		"You help.\n\nVersion 1.",
		"You help.\n\nVersion 1.",
		"You help.\n\nVersion 2.",
	]);
});

const changing: readonly (readonly [string, Partial<ThreadsOptions>])[] = [
	[
		"a hook `assemble`",
		{
			plugins: [
				definePlugin({
					name: "p",
					setup: (host) => host.on("assemble", ({ messages }) => messages.slice(1)),
				}),
			],
		},
	],
	[
		"an overlay",
		{
			plugins: [
				definePlugin({
					name: "p",
					setup: (host) => host.on("turn.before", async ({ overlay }) => void (await overlay("By the way."))),
				}),
			],
		},
	],
	["a middleware", { middleware: [slidingWindow({ max: 1 })] }],
];
test.each(changing)("%s that changes the messages of a request is refused", async (_, options) => {
	const provider = scripted(["One.", "Two.", "Three."]);
	const { threads, host } = start(oneAgent(provider), options);
	onTestFinished(() => threads.close());
	const { threadId } = await threads.createThread({ agentId: "helper" });
	for (let turn = 0; turn < 3; turn++) await say(threads, threadId, "Hello.");
	const ends = (await host.journal.read(threadId)).flatMap(({ fact }) =>
		fact.kind === "run.ended" ? [fact] : [],
	);
	expect(ends.at(-1)?.error?.code).toBe("conflicting_options");
	expect(ends.filter(({ outcome }) => outcome === "completed")).toHaveLength(provider.requests.length);
});

test("a hook that returns the messages unchanged is accepted", async () => {
	const provider = scripted(["One."]);
	const plugin = definePlugin({
		name: "p",
		setup: (host) => host.on("assemble", ({ messages }) => [...messages]),
	});
	const { threads } = start(oneAgent(provider), {
		plugins: [plugin],
		middleware: [slidingWindow({ max: 9 })],
	});
	onTestFinished(() => threads.close());
	const { threadId } = await threads.createThread({ agentId: "helper" });
	await say(threads, threadId, "Hello.");
	expect(await said(threads, threadId)).toEqual(["user: Hello.", "assistant: One."]);
});
