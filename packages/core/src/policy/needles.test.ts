// Recall after windows and summaries: 30 facts are placed in a long session, and asked for at its end. The scripted model
// answers from the text of its request only, and the scripted summariser uses the text that it is given only.
import { scriptedModel } from "@holdfast/testing";
import type { LLMRequest } from "@holdfast/upp";
import { describe, expect, test } from "vitest";
import { anyTool } from "../agent/agent.fixture.ts";
import { Agent } from "../agent/agent.ts";
import type { AgentOptions } from "../agent/options.ts";
import { faultsOfHistory } from "../engine/engine.fixture.ts";
import { memoryHost } from "../host/memory-host.ts";
import { pruneToolOutputs } from "./middleware/prune-tool-outputs.ts";
import { slidingWindow } from "./middleware/sliding-window.ts";
import { summarise } from "./middleware/summarise.ts";
import { pinned } from "./pinned.ts";
import { compaction } from "./plugins/compaction.ts";
import { transcript } from "./summaries/transcript.ts";

const turns = 210;
const facts = 30;
const filler = "The weather is discussed at length. ".repeat(8);
const needle = /The code of box (\d+) is (\w+)\./g;

function codeOf(box: number): string {
	return `k${(box * 7919 + 13) % 10_007}`;
}

function factOf(box: number): string {
	return `The code of box ${box} is ${codeOf(box)}.`;
}

/** Answers questions from the text of the request; every other message gets a call, then an answer. */
function answerTo({ messages }: LLMRequest) {
	const all = transcript(messages);
	const last = messages.at(-1) as { type: string; text?: string };
	const asked = /What is the code of box (\d+)\?/.exec(last.text ?? "")?.[1];
	if (asked !== undefined)
		return [...all.matchAll(needle)].find(([, box]) => box === asked)?.[2] ?? "I do not know.";
	return last.type === "user" ? { text: "", toolCalls: [{ name: "look", arguments: {} }] } : "Noted.";
}

/** Keeps the sentences with facts, as a good summary does, and loses everything else. */
function summary(request: string): string {
	return [...new Set(request.match(needle) ?? [])].join(" ") || "They talked about the weather.";
}

type Where = "input" | "result" | "steer";
const places: readonly Where[] = ["input", "result", "steer"];

/** Returns how many facts are answered at the end, by where they were placed. */
async function recall(options: () => Partial<AgentOptions>, pins: boolean): Promise<Record<Where, number>> {
	const host = memoryHost();
	const faults: string[] = [];
	let next: { readonly where: Where; readonly text: string } | undefined;
	const model = scriptedModel((request) => {
		faults.push(...faultsOfHistory(request.messages));
		return answerTo(request);
	});
	const agentOf = () => {
		const agent = new Agent({
			model,
			host,
			tools: [
				anyTool("look", async () => {
					const { where, text } = next ?? {};
					next = undefined;
					if (where === "steer")
						await agent.session(key).steer(pins ? pinned(text as string) : (text as string));
					return where === "result" ? `${filler}${text}${filler}` : filler;
				}),
			],
			...options(),
		});
		return agent;
	};
	let key = "s";
	let agent = agentOf();
	for (let turn = 0; turn < turns; turn++) {
		const box = turn % (turns / facts) === 3 ? Math.floor((turn * facts) / turns) : undefined;
		const where = places[(box ?? 0) % 3] as Where;
		next = box === undefined ? undefined : { where, text: factOf(box) };
		const said = next?.where === "input" ? `${filler}${next.text}` : filler;
		const input = pins && next?.where === "input" ? pinned(said) : said;
		const { outcome } = await (await agent.session(key).send(input)).result();
		expect(outcome).toBe("completed");
		if (turn % 50 === 49) agent = agentOf(); // another process continues
		if (turn === 100) {
			await agent.session(key).fork("f");
			key = "f";
		}
	}
	next = undefined;
	const found = { input: 0, result: 0, steer: 0 };
	for (let box = 0; box < facts; box++) {
		const fork = await agent.session(key).fork(`q${box}`);
		const { turn } = await (await fork.send(`What is the code of box ${box}?`)).result();
		if (turn?.response.text === codeOf(box)) found[places[box % 3] as Where]++;
	}
	expect(faults).toEqual([]);
	return found;
}

const all = { input: 10, result: 10, steer: 10 };

describe("30 facts in a session of 210 turns with calls, restarts, steering and a fork", () => {
	test.each<[string, () => Partial<AgentOptions>, boolean, Record<Where, number>]>([
		["without a strategy", () => ({}), false, all],
		["compaction()", () => ({ plugins: [compaction({ summarise: summary, maxTokens: 6_000 })] }), false, all],
		[
			"summarise()",
			() => ({ middleware: [summarise({ summarizer: summary, threshold: 6_000 })] }),
			false,
			all,
		],
		[
			"pruneToolOutputs()",
			() => ({
				middleware: [
					pruneToolOutputs({ contextLimit: 6_000, outputReserve: 0, protectRecent: 3_000, block: 3_000 }),
				],
			}),
			false,
			{ input: 10, result: 1, steer: 10 },
		],
		[
			"slidingWindow()",
			() => ({ middleware: [slidingWindow({ max: 40, block: 20 })] }),
			false,
			{ input: 0, result: 0, steer: 1 },
		],
		[
			"slidingWindow() with pinned messages",
			() => ({ middleware: [slidingWindow({ max: 40, block: 20 })] }),
			true,
			{ input: 10, result: 0, steer: 10 },
		],
		[
			"compaction() whose summaries lose all, with pinned messages",
			() => ({ plugins: [compaction({ summarise: () => "They talked.", maxTokens: 12_000 })] }),
			true,
			{ input: 10, result: 1, steer: 10 },
		],
	])("%s", async (_, options, pins, expected) => {
		expect(await recall(options, pins)).toEqual(expected);
	});
});
