import { scriptedModel } from "@holdfast/testing";
import { emptyUsage, type LLMRequest, messageToJSON, UserMessage } from "@holdfast/upp";
import fc from "fast-check";
import { expect, test } from "vitest";
import { Agent } from "../agent/agent.ts";
import type { AgentOptions } from "../agent/options.ts";
import type { AssistantSaid } from "../facts/fact.ts";
import { journalHost } from "../host/host-port.ts";
import { memoryJournal } from "../host/memory-journal.ts";
import { pruneToolOutputs } from "../policy/middleware/prune-tool-outputs.ts";
import { slidingWindow } from "../policy/middleware/sliding-window.ts";
import { compaction } from "../policy/plugins/compaction.ts";

type Action =
	| { readonly kind: "send"; readonly rounds: number; readonly steers: boolean; readonly overlays: boolean }
	| { readonly kind: "fail" }
	| { readonly kind: "edit"; readonly at: number; readonly how: "update" | "delete" | "cut" }
	| { readonly kind: "add" }
	| { readonly kind: "restart"; readonly agent: Variant };

interface Variant {
	readonly instructions: string;
	readonly tools: number;
	readonly view: "whole" | "window" | "blocks" | "tokens" | "pruned" | "summary";
	/** How many tokens the provider counts per estimated one; undefined: as the prompt cache reports. */
	readonly counted?: number | undefined;
}

const variant: fc.Arbitrary<Variant> = fc.record({
	instructions: fc.constantFrom(
		"Be brief.",
		"Be brief.",
		"Be brief.",
		"Be long.",
		"function",
		"function of parts",
	),
	tools: fc.constantFrom(1, 1, 1, 2),
	view: fc.constantFrom("whole", "whole", "window", "blocks", "tokens", "tokens", "pruned", "summary"),
	counted: fc.constantFrom(undefined, 0.5, 1, 3),
});

const action: fc.Arbitrary<Action> = fc.oneof(
	{
		weight: 6,
		arbitrary: fc.record({
			kind: fc.constant("send" as const),
			rounds: fc.nat({ max: 3 }),
			steers: fc.boolean(),
			overlays: fc.nat({ max: 5 }).map((drawn) => drawn === 0),
		}),
	},
	{ weight: 1, arbitrary: fc.constant({ kind: "fail" as const }) },
	{ weight: 1, arbitrary: fc.constant({ kind: "add" as const }) },
	{
		weight: 2,
		arbitrary: fc.record({
			kind: fc.constant("edit" as const),
			at: fc.nat({ max: 30 }),
			how: fc.constantFrom("update" as const, "delete" as const, "cut" as const),
		}),
	},
	{ weight: 3, arbitrary: fc.record({ kind: fc.constant("restart" as const), agent: variant }) },
);

interface Sent {
	readonly head: string;
	readonly messages: readonly string[];
}

/** The functions return another text for every third run. */
function instructionsOf(given: string, number: () => number): AgentOptions["instructions"] {
	if (given === "function") return () => `Be brief, ${number()}.`;
	if (given !== "function of parts") return given;
	return async () => [{ text: "Be brief.", cache: true }, { text: `It is ${number()}.` }];
}

function sentOf({ system, tools = [], messages }: LLMRequest): Sent {
	const names = tools.map(({ name }) => name);
	return {
		head: JSON.stringify([system, names]),
		messages: messages.map((message) => {
			const {
				id: _,
				timestamp: __,
				...content
			} = messageToJSON(message as never) as never as { id: unknown; timestamp: unknown };
			return JSON.stringify(content);
		}),
	};
}

async function play(first: Variant, actions: readonly Action[]) {
	const journal = memoryJournal();
	const host = journalHost(journal);
	const requests: Sent[] = [];
	let rounds = 0;
	let fails = false;
	let turns = 0;
	let counted = first.counted;
	const model = scriptedModel(
		(request, number) => {
			const sent = sentOf(request);
			requests.push(sent);
			if (fails) return { error: new Error("down") };
			const inputTokens = Math.ceil((JSON.stringify(sent).length / 4) * (counted ?? 1));
			const usage = { inputTokens, outputTokens: 1, totalTokens: inputTokens + 1 };
			return {
				text: `answer ${number}`,
				...(counted === undefined ? {} : { usage: { ...emptyUsage(), ...usage } }),
				...(rounds-- > 0 ? { toolCalls: [{ name: "tool0" }] } : {}),
			};
		},
		{ promptCache: "breakpoints" },
	);
	let during: () => Promise<unknown> = async () => {};
	const agentOf = ({ instructions, tools, view }: Variant): Agent =>
		new Agent({
			model,
			host,
			instructions: instructionsOf(instructions, () => Math.floor(turns++ / 3)),
			tools: Array.from({ length: tools }, (_, at) => ({
				name: `tool${at}`,
				description: "",
				parameters: { type: "object" as const },
				run: async () => {
					await during();
					return "done";
				},
			})),
			...(view === "window" ? { middleware: [slidingWindow({ max: 5 })] } : {}),
			...(view === "blocks" ? { middleware: [slidingWindow({ max: 6, block: 3 })] } : {}),
			...(view === "tokens" ? { middleware: [slidingWindow({ maxTokens: 240 })] } : {}),
			...(view === "pruned"
				? { middleware: [pruneToolOutputs({ contextLimit: 240, outputReserve: 0, protectRecent: 60 })] }
				: {}),
			...(view === "summary"
				? { plugins: [compaction({ maxTokens: 150, keepRecent: 3, summarise: () => "They talked." })] }
				: {}),
		});
	let session = agentOf(first).session("s");
	for (const each of actions) {
		switch (each.kind) {
			case "send": {
				rounds = each.rounds;
				during = async () => {
					if (each.steers) await session.steer("Faster.");
					if (each.overlays) await session.overlay("By the way.");
				};
				await (await session.send("Go on.")).result();
				break;
			}
			case "fail":
				fails = true;
				await (await session.send("This fails.")).result();
				fails = false;
				break;
			case "add":
				await session.edit({ kind: "add", message: new UserMessage("Added.") });
				break;
			case "edit": {
				const { messages } = await session.state();
				const message = messages[each.at];
				if (message === undefined) break;
				rounds = 0;
				if (each.how === "delete") await session.edit({ kind: "delete", messageId: message.id });
				else if (message.type !== "user") break;
				else if (each.how === "cut")
					await (await session.start("Instead.", { insteadOf: message.id })).result();
				else await session.edit({ kind: "update", message: new UserMessage("Edited.", message) });
				break;
			}
			case "restart":
				counted = each.agent.counted;
				session = agentOf(each.agent).session("s");
		}
	}
	const answers = (await journal.read("s"))
		.map(({ fact }) => fact)
		.filter((fact): fact is AssistantSaid => fact.kind === "assistant");
	return { requests, answers };
}

/** Returns the first request that does not begin like the previous one, other than from a recorded break on. */
function unrecorded(requests: readonly Sent[], answers: readonly AssistantSaid[]): string | undefined {
	let before: Sent | undefined;
	for (const { message, cacheBreak } of answers) {
		const number = Number(message.text.split(" ")[1]);
		const now = requests[number] as Sent;
		const same = Math.min(cacheBreak?.from ?? Number.POSITIVE_INFINITY, before?.messages.length ?? 0);
		if (before !== undefined && cacheBreak?.from !== 0 && before.head !== now.head)
			return `head of ${number}`;
		for (let at = 0; at < same; at++)
			if (before?.messages[at] !== now.messages[at]) return `message ${at} of request ${number}`;
		before = now;
	}
	return undefined;
}

test("each request starts like the previous one up to a recorded break, in any conversation", async () => {
	let breaks = 0;
	let whole = 0;
	await fc.assert(
		fc.asyncProperty(variant, fc.array(action, { minLength: 3, maxLength: 12 }), async (first, actions) => {
			const { requests, answers } = await play(first, actions);
			expect(unrecorded(requests, answers)).toBeUndefined();
			breaks += answers.filter(({ cacheBreak }) => cacheBreak !== undefined).length;
			whole += answers.length;
		}),
		{ numRuns: 200 },
	);
	expect(breaks).toBeGreaterThan(50);
	expect(breaks / whole).toBeLessThan(0.6);
});

test("no break is recorded if the beginning is unchanged", async () => {
	const agent: Variant = { instructions: "Be brief.", tools: 1, view: "whole" };
	const send = { kind: "send", rounds: 2, steers: true, overlays: false } as const;
	const restart = { kind: "restart", agent } as const;
	const { answers } = await play(agent, [send, { kind: "add" }, send, restart, send, { kind: "fail" }, send]);
	expect(answers.flatMap(({ cacheBreak }) => cacheBreak ?? [])).toEqual([]);
});

test("a break lists its reasons and the number of unchanged messages", async () => {
	const agent: Variant = { instructions: "Be brief.", tools: 1, view: "whole" };
	const send = { kind: "send", rounds: 0, steers: false, overlays: false } as const;
	const { answers } = await play(agent, [
		send,
		send,
		{ kind: "edit", at: 2, how: "update" },
		send,
		{ kind: "restart", agent: { ...agent, instructions: "Be long.", tools: 2 } },
		send,
	]);
	expect(answers.map(({ cacheBreak }) => cacheBreak)).toEqual([
		undefined,
		undefined,
		{ reasons: ["edited"], from: 2 },
		{ reasons: ["instructions", "tools"], from: 0 },
	]);
});

const words = (count: number): string => "word ".repeat(count);

test("a session of sixty steps reads at least 95 % of its input from the cache", async () => {
	for (const promptCache of ["breakpoints", "key"] as const) {
		const model = scriptedModel(
			(_, number) =>
				number % 60 < 59
					? { text: words(30), toolCalls: [{ name: "look", arguments: { at: number } }] }
					: "Done.",
			{ promptCache },
		);
		const look = {
			name: "look",
			description: "Looks.",
			parameters: { type: "object" as const },
			run: () => words(200),
		};
		const agent = new Agent({ model, instructions: words(1_000), tools: [look] });
		const { usage } = await (await agent.session("s").send("Go.")).result();
		expect(usage.cacheReadTokens as number).toBeGreaterThan(0.95 * usage.inputTokens);
		const off = new Agent({ model, instructions: words(1_000), tools: [look], cache: "off" });
		const uncached = await (await off.session("t").send("Go.")).result();
		if (promptCache === "breakpoints") expect(uncached.usage.cacheReadTokens).toBe(0);
	}
});

const pruning = { contextLimit: 3_000, outputReserve: 0, protectRecent: 1_000 };

test.each([
	["slidingWindow", slidingWindow({ max: 40 }), slidingWindow({ max: 40, block: 20 })],
	["pruneToolOutputs", pruneToolOutputs(pruning), pruneToolOutputs({ ...pruning, block: 3_000 })],
])("%s reads most of its input from the cache in blocks, and little without", async (name, each, blocks) => {
	const found: { breaks: number; share: number }[] = [];
	for (const middleware of [each, blocks]) {
		const model = scriptedModel(
			(_, number) =>
				number < 99 ? { text: words(30), toolCalls: [{ name: "look", arguments: { at: number } }] } : "Done.",
			{ promptCache: "breakpoints" },
		);
		const run = () => words(100);
		const look = { name: "look", description: "Looks.", parameters: { type: "object" as const }, run };
		const agent = new Agent({ model, tools: [look], middleware: [middleware] });
		const { cacheReport, steps } = await (await agent.session("s").send("Go.")).result();
		expect(steps).toBe(100);
		const breaks = cacheReport?.calls.filter(({ cacheBreak }) => cacheBreak !== undefined).length ?? 0;
		found.push({ breaks, share: cacheReport?.cachedShare ?? 0 });
	}
	const [without, inBlocks] = found;
	expect(without?.breaks).toBeGreaterThan(70);
	expect(inBlocks?.breaks).toBeLessThan(10);
	expect(inBlocks?.share).toBeGreaterThan(0.8);
	expect(inBlocks?.share).toBeGreaterThan((without?.share ?? 1) + 0.1);
	if (name === "slidingWindow") expect(without?.share).toBeLessThan(0.25);
});
