// Windows and summaries act by the tokens that the provider counts. The model here counts more or fewer tokens per character
// than the estimate does, and also counts instructions and tools.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { scriptedModel } from "@holdfast/testing";
import { type LLMRequest, messageToJSON } from "@holdfast/upp";
import { afterAll, describe, expect, test } from "vitest";
import { anyTool } from "../agent/agent.fixture.ts";
import { Agent } from "../agent/agent.ts";
import type { AgentOptions } from "../agent/options.ts";
import { faultsOfHistory } from "../engine/engine.fixture.ts";
import type { AssistantSaid } from "../facts/fact.ts";
import { sentBy } from "../facts/sent-prefix.ts";
import { memoryHost } from "../host/memory-host.ts";
import { sqliteHost } from "../sqlite.ts";
import { pruneToolOutputs } from "./middleware/prune-tool-outputs.ts";
import { slidingWindow } from "./middleware/sliding-window.ts";
import { summarise } from "./middleware/summarise.ts";
import { compaction } from "./plugins/compaction.ts";

const folder = mkdtempSync(join(tmpdir(), "holdfast-counted-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const limit = 2_500;
const words = (count: number): string => "word ".repeat(count);

/** Counts like a provider: the characters of everything that it is sent, a number of tokens each. */
function counted({ system, tools = [], messages }: LLMRequest, perCharacter: number): number {
	const shown = messages.map((message) => {
		const {
			id: _,
			timestamp: __,
			...content
		} = messageToJSON(message as never) as never as Record<string, unknown>;
		return content;
	});
	const sent = tools.map(({ name, description, parameters }) => [name, description, parameters]);
	return Math.round(perCharacter * JSON.stringify([system, sent, shown]).length);
}

/** A model that calls a tool in every other request. */
function countingModel(perCharacter: number) {
	const counts: number[] = [];
	const faults: string[] = [];
	const model = scriptedModel((request, number) => {
		faults.push(...faultsOfHistory(request.messages));
		const inputTokens = counted(request, perCharacter);
		counts.push(inputTokens);
		const usage = { inputTokens, outputTokens: 5, totalTokens: inputTokens + 5 };
		const asks = request.messages.at(-1)?.type === "user";
		return asks
			? { text: words(10), toolCalls: [{ name: "look", arguments: { number } }], usage }
			: { text: words(10), usage };
	});
	return { model, counts, faults };
}

const look = anyTool("look", () => words(30));
const summary = (): string => "They talked.";

const strategies: [string, () => Partial<AgentOptions>][] = [
	["slidingWindow", () => ({ middleware: [slidingWindow({ maxTokens: limit })] })],
	[
		"pruneToolOutputs",
		() => ({ middleware: [pruneToolOutputs({ contextLimit: limit, outputReserve: 0, protectRecent: 200 })] }),
	],
	[
		"summarise",
		() => ({ middleware: [summarise({ summarizer: summary, threshold: limit, keepRecent: 4 })] }),
	],
	["compaction", () => ({ plugins: [compaction({ summarise: summary, maxTokens: limit })] })],
	[
		"compaction without a background",
		() => ({ plugins: [compaction({ summarise: summary, maxTokens: limit, prepareAt: 1 })] }),
	],
];

describe.each(strategies)("%s", (name, options) => {
	test.each([0.15, 0.7])(
		"uses the limit and keeps to it if the provider counts %d tokens per character",
		async (perCharacter) => {
			const { model, counts, faults } = countingModel(perCharacter);
			const agent = new Agent({ model, tools: [look], instructions: words(100), ...options() });
			// Without outputs, the history exceeds any limit in the end.
			const turns = Math.round((name === "pruneToolOutputs" ? 3.8 : 12) / perCharacter);
			for (let turn = 0; turn < turns; turn++)
				await (await agent.session("s").send(`${turn} ${words(20)}`)).result();
			// What is appended between two counts is estimated, at a factor that is not exactly the provider's.
			expect(Math.max(...counts)).toBeLessThan(limit * 1.08);
			expect(Math.max(...counts)).toBeGreaterThan(limit * 0.9);
			expect(counts.filter((count, at) => count < (counts[at - 1] ?? 0)).length).toBeGreaterThan(0);
			expect(faults).toEqual([]);
		},
		60_000,
	);

	test("shows the same after any restart, on any store", async () => {
		const sent: unknown[][] = [];
		for (const kind of ["one process", "restarts", "restarts on SQLite"] as const) {
			const { model } = countingModel(0.5);
			const path = join(folder, `${name}.db`);
			let host = kind === "restarts on SQLite" ? sqliteHost(path) : memoryHost();
			let agent = new Agent({ model, tools: [look], host, ...options() });
			for (let turn = 0; turn < 24; turn++) {
				await (await agent.session("s").send(`${turn} ${words(20)}`)).result();
				if (kind === "one process") continue;
				if (kind === "restarts on SQLite" && turn % 6 === 0) {
					await agent.close();
					await (host as ReturnType<typeof sqliteHost>).close();
					host = sqliteHost(path);
				}
				agent = new Agent({ model, tools: [look], host, ...options() });
			}
			sent.push(
				model.requests.map(({ messages }) =>
					messages.map((message) => {
						const {
							id: _,
							timestamp: __,
							...content
						} = messageToJSON(message as never) as never as {
							id: unknown;
							timestamp: unknown;
						};
						return content;
					}),
				),
			);
			await agent.close();
			if (kind === "restarts on SQLite") await (host as ReturnType<typeof sqliteHost>).close();
		}
		expect(sent[1]).toEqual(sent[0]);
		expect(sent[2]).toEqual(sent[0]);
		const lengths = (sent[0] as unknown[][]).map(({ length }) => length);
		if (name !== "pruneToolOutputs")
			expect(lengths.some((length, at) => length < (lengths[at - 1] ?? 0))).toBe(true);
	}, 60_000);

	test("applies to the requests of a sub-agent", async () => {
		const { model, counts } = countingModel(0.5);
		let steps = 0;
		const child = scriptedModel((request) => {
			const inputTokens = counted(request, 0.5);
			counts.push(inputTokens);
			const usage = { inputTokens, outputTokens: 5, totalTokens: inputTokens + 5 };
			return steps++ < 30
				? { text: words(3), toolCalls: [{ name: "look" }], usage }
				: { text: "Found.", usage };
		});
		const researcher = new Agent({
			name: "researcher",
			description: "Looks things up.",
			model: child,
			tools: [look],
			...options(),
		});
		const parent = new Agent({
			model: scriptedModel([
				{
					toolCalls: [
						{ name: "delegate_to_researcher", arguments: { description: "Looks.", prompt: "Look." } },
					],
				},
				"Done.",
			]),
			subagents: [researcher],
		});
		const { outcome } = await (await parent.session("p").send("Go.")).result();
		expect(outcome).toBe("completed");
		expect(steps).toBeGreaterThan(30);
		expect(model.requests).toEqual([]);
		const most = Math.max(...counts);
		expect(most).toBeGreaterThan(limit * 0.85);
		if (name !== "pruneToolOutputs") expect(most).toBeLessThan(limit * 1.08);
		expect(counts.filter((count, at) => count < (counts[at - 1] ?? 0)).length).toBeGreaterThan(0);
	});
});

test("instructions and tools count towards the limit, and leave at least a quarter of it to the history", async () => {
	for (const [long, most] of [
		[1_000, limit],
		[6_000, 6_000 * 1.25 + limit * 0.4],
	] as const) {
		const { model, counts } = countingModel(0.25);
		const middleware = [slidingWindow({ maxTokens: limit })];
		const agent = new Agent({ model, tools: [look], instructions: words(long), middleware, maxSteps: 9 });
		for (let turn = 0; turn < 30; turn++)
			await (await agent.session("s").send(`${turn} ${words(20)}`)).result();
		expect(Math.max(...counts.slice(1))).toBeLessThan(most * 1.08);
		expect(model.requests.at(-1)?.messages.length).toBeGreaterThan(5);
	}
});

describe("the size of a request in the state of a session", () => {
	const answer = (inputTokens: number, more: Partial<AssistantSaid> = {}) => ({
		usage: { inputTokens, outputTokens: 1, totalTokens: inputTokens + 1 },
		...more,
	});
	const counted = { tokens: 90, estimate: 100 };
	const before = { fingerprint: "f", length: 3, counted, cuts: { a: "1", b: "2" } };

	test("is that of the last request that was estimated and counted", () => {
		expect(sentBy(undefined, "f", 3, answer(90, { estimate: 100 })).counted).toEqual(counted);
		expect(sentBy(before, "f", 5, answer(120, { estimate: 140 })).counted).toEqual({
			tokens: 120,
			estimate: 140,
		});
		expect(sentBy(before, "f", 5, answer(500)).counted).toEqual(counted);
		expect(sentBy(before, "f", 5, answer(0, { estimate: 140 })).counted).toEqual(counted);
	});

	test("includes what a provider counts apart because it read it from its cache", () => {
		const usage = {
			inputTokens: 10,
			outputTokens: 1,
			totalTokens: 11,
			cacheReadTokens: 70,
			cacheWriteTokens: 5,
		};
		expect(sentBy(undefined, "f", 3, { usage, estimate: 100 }).counted?.tokens).toBe(85);
		const within = { ...usage, inputTokens: 80 };
		expect(sentBy(undefined, "f", 3, { usage: within, estimate: 100 }).counted?.tokens).toBe(80);
	});

	test("is unknown if the count cannot be that of the whole request", () => {
		expect(sentBy(before, "f", 5, answer(10, { estimate: 100 })).counted).toBeUndefined();
	});

	test("keeps the place of each policy until it moves", () => {
		expect(sentBy(before, "f", 5, answer(90)).cuts).toEqual({ a: "1", b: "2" });
		expect(sentBy(before, "f", 5, answer(90, { cuts: { b: "3" } })).cuts).toEqual({ a: "1", b: "3" });
	});
});
