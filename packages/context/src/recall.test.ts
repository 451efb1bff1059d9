// Recall with skills, large results and policy that shortens histories: 30 facts are placed in a long session, and asked for
// at its end. The scripted model answers only from the text of its request, from stored results whose ids that text contains,
// and from skills. The scripted summariser uses the text that it is given only.
import { type ScriptedReply, scriptedModel } from "@holdfast/testing";
import {
	isToolResultMessage,
	isUserMessage,
	type LLMRequest,
	type Message,
	type ToolResultMessage,
} from "@holdfast/upp";
import { Agent, type AgentOptions, memoryHost, tool } from "holdfast";
import { pruneToolOutputs, slidingWindow, summarise } from "holdfast/middleware";
import { compaction } from "holdfast/plugins";
import { describe, expect, test } from "vitest";
import { largeResults } from "./large-results/index.ts";
import { skills } from "./skills/index.ts";

const turns = 180;
const facts = 30;
/** Where facts are: every place has six. Results and inputs are of early and late turns. */
const places = ["input", "result", "stored result", "skill", "file of a skill"] as const;
type Place = (typeof places)[number];

const filler = "The weather is discussed at length. ".repeat(8);
const needle = /The code of box (\d+) is (\w+)\./g;
const codeOf = (box: number): string => `k${(box * 7919 + 13) % 10_007}`;
const factOf = (box: number): string => `The code of box ${box} is ${codeOf(box)}.`;
const placeOf = (box: number): Place => places[box % places.length] as Place;

/** The skill of a box has its code in its body or in a file. */
const sources = Array.from({ length: facts }, (_, box) => box)
	.filter((box) => placeOf(box).endsWith("skill"))
	.map((box) => {
		const inFile = placeOf(box) === "file of a skill";
		const head = `---\nname: box-${box}\ndescription: About box ${box}.\n---\n`;
		const text = `${head}${filler}\n${inFile ? "See codes.md." : factOf(box)}\n`;
		return { text, files: { "codes.md": inFile ? factOf(box) : "Empty." } };
	});

/** Returns the text of a request, in order. */
function textOf(messages: readonly Message[]): string {
	return messages
		.map((message) =>
			isToolResultMessage(message)
				? (message as ToolResultMessage).results.map(({ result }) => String(result)).join("\n")
				: ((message as { readonly text?: string }).text ?? ""),
		)
		.join("\n");
}

const call = (name: string, args: object): ScriptedReply => ({
	toolCalls: [{ name, arguments: args as never }],
});

/** Answers a question from the text of the request, or looks where that text leads. Other messages get a call first. */
function answerTo({ messages }: LLMRequest): ScriptedReply | string {
	const at = messages.findLastIndex(isUserMessage);
	const input = (messages[at] as { readonly text: string }).text;
	const round = messages.slice(at + 1).filter(isToolResultMessage).length;
	const box = /What is the code of box (\d+)\?/.exec(input)?.[1];
	if (box === undefined) {
		const named = /Load the skill (\S+)\./.exec(input)?.[1];
		if (round === 0) return named === undefined ? call("look", {}) : call("load_skill", { name: named });
		if (named !== undefined && round === 1)
			return call("read_skill_file", { skill: named, path: "codes.md" });
		return "Noted.";
	}
	const text = textOf(messages);
	const found = [...text.matchAll(needle)].find(([, of]) => of === box)?.[2];
	if (found !== undefined) return found;
	const place = placeOf(Number(box));
	if (place.endsWith("skill")) {
		if (round === 0) return call("load_skill", { name: `box-${box}` });
		if (round === 1) return call("read_skill_file", { skill: `box-${box}`, path: "codes.md" });
		return "I do not know.";
	}
	const ids = [...new Set([...text.matchAll(/read_result and the id "([^"]+)"/g)].map(([, id]) => id))];
	const id = ids[round];
	return id === undefined
		? "I do not know."
		: call("read_result", { id, search: `The code of box ${box} is` });
}

let summaries = 0;

/** Keeps the sentences with facts and the notes of stored results, as a good summary does, and loses everything else. */
function summary(request: string): string {
	summaries++;
	const kept = [needle, /\[This result is long: [^\]]*\]/g].flatMap(
		(pattern) => request.match(pattern) ?? [],
	);
	return [...new Set(kept)].join(" ") || "They talked about the weather.";
}

/** Returns how many facts are answered at the end, by place. */
async function recall(options: () => Partial<AgentOptions>): Promise<Record<Place, number>> {
	summaries = 0;
	const host = memoryHost();
	const model = scriptedModel(answerTo);
	let next = filler;
	const look = tool({ name: "look", description: "Looks.", run: () => next });
	const newAgent = (): Agent => {
		const { plugins = [], ...more } = options();
		const own = [largeResults({ limit: 2_000, head: 100, tail: 100 }), skills({ sources })];
		return new Agent({ model, host, tools: [look], ...more, plugins: [...own, ...plugins] });
	};
	let agent = newAgent();
	for (let turn = 0; turn < turns; turn++) {
		const box = turn % (turns / facts) === 3 ? Math.floor((turn * facts) / turns) : undefined;
		const place = box === undefined ? undefined : placeOf(box);
		next = filler;
		if (place === "result") next = `${filler}${factOf(box as number)}`;
		if (place === "stored result") next = `${filler.repeat(40)}${factOf(box as number)}${filler.repeat(40)}`;
		const input =
			place === "input"
				? `${filler}${factOf(box as number)}`
				: place?.endsWith("skill")
					? `Load the skill box-${box}.`
					: filler;
		const { outcome } = await (await agent.session("s").send(input)).result();
		expect(outcome).toBe("completed");
		if (turn % 50 === 49) agent = newAgent(); // another process continues
	}
	const found = Object.fromEntries(places.map((place) => [place, 0])) as Record<Place, number>;
	for (let box = 0; box < facts; box++) {
		const fork = await agent.session("s").fork(`q${box}`);
		const { turn } = await (await fork.send(`What is the code of box ${box}?`)).result();
		if (turn?.response.text === codeOf(box)) found[placeOf(box)]++;
	}
	return found;
}

const compacting = (options: object) => () => ({
	plugins: [compaction({ summarise: summary, maxTokens: 8_000, ...options })],
});

/** The recall of each policy, by place: of 6 facts each. The guide shows the same figures. */
const expected: readonly [string, () => Partial<AgentOptions>, readonly number[]][] = [
	["without policy", () => ({}), [6, 6, 6, 6, 6]],
	["slidingWindow()", () => ({ middleware: [slidingWindow({ max: 40, block: 20 })] }), [0, 0, 0, 6, 6]],
	[
		"pruneToolOutputs()",
		() => ({
			middleware: [
				pruneToolOutputs({ contextLimit: 12_000, outputReserve: 0, protectRecent: 3_000, block: 3_000 }),
			],
		}),
		[6, 0, 6, 6, 6],
	],
	[
		"summarise()",
		() => ({ middleware: [summarise({ summarizer: summary, threshold: 8_000 })] }),
		[6, 6, 6, 6, 6],
	],
	["compaction() that runs wait for", compacting({ prepareAt: 1 }), [6, 6, 6, 6, 6]],
	["compaction() in the background", compacting({}), [6, 6, 6, 6, 6]],
	[
		"compaction() whose summaries lose all",
		compacting({ summarise: () => "They talked.", prepareAt: 1 }),
		[0, 0, 0, 6, 6],
	],
];

describe("30 facts in inputs, results, stored results, skills and their files", () => {
	test.each(expected)("%s", async (name, options, recalled) => {
		const isSummarised = /^(?:summarise|compaction)\(\)(?!.*lose)/.test(name);
		const found = await recall(options);
		expect(places.map((place) => found[place])).toEqual(recalled);
		// Facts are before, between and after the summaries.
		if (isSummarised) expect(summaries).toBeGreaterThanOrEqual(3);
	});
});
