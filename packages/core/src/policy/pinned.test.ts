import { scriptedModel } from "@holdfast/testing";
import { AssistantMessage, type Message, UserMessage } from "@holdfast/upp";
import { describe, expect, test } from "vitest";
import { Agent } from "../agent/agent.ts";
import type { AgentOptions } from "../agent/options.ts";
import { memoryHost } from "../host/memory-host.ts";
import { AgentState } from "../state/agent-state.ts";
import { slidingWindow } from "./middleware/sliding-window.ts";
import { summarise } from "./middleware/summarise.ts";
import { isPinned, pinned } from "./pinned.ts";
import { compaction } from "./plugins/compaction.ts";

const text = (message: Message): string => (message as { text: string }).text;
const estimate = (): number => 1;
const summary = () => "They talked.";

const strategies: [string, Partial<AgentOptions>][] = [
	["slidingWindow", { middleware: [slidingWindow(4)] }],
	["slidingWindow in blocks", { middleware: [slidingWindow({ max: 4, block: 2 })] }],
	["summarise", { middleware: [summarise({ summarizer: summary, threshold: 8, keepRecent: 2, estimate })] }],
	["compaction", { plugins: [compaction({ summarise: summary, maxTokens: 8, keepRecent: 2, estimate })] }],
];

describe.each(strategies)("%s", (_, options) => {
	test("keeps pinned messages in the view of every later request, in other processes and forks too", async () => {
		const host = memoryHost();
		const model = scriptedModel((_, number) => `answer ${number}`);
		const agentOf = () => new Agent({ model, host, ...options });
		await (await agentOf().session("s").send("Hello.")).result();
		await (await agentOf().session("s").send(pinned("Home by Sunday."))).result();
		for (let turn = 0; turn < 12; turn++) {
			if (turn === 8) await agentOf().session("s").fork("f");
			await (
				await agentOf()
					.session(turn < 8 ? "s" : "f")
					.send(`turn ${turn}`)
			).result();
		}
		const seen = model.requests
			.slice(1)
			.map(({ messages }) => messages.filter((each) => text(each) === "Home by Sunday."));
		expect(seen.map(({ length }) => length)).toEqual(Array(13).fill(1));
		expect(model.requests.at(-1)?.messages.map(text)).not.toContain("Hello.");
		expect(text(model.requests.at(-1)?.messages.at(-1) as Message)).toBe("turn 11");
	});

	test("keeps them in the state of a call without a session", async () => {
		const model = scriptedModel(() => "answer");
		const messages = Array.from({ length: 12 }, (_, at) =>
			at % 2 === 1 ? new AssistantMessage("a") : at === 2 ? pinned("Keep.") : new UserMessage(`u${at}`),
		);
		await new Agent({ model, ...options }).generate("go", AgentState.initial().withMessages(messages));
		const shown = model.requests[0]?.messages.map(text) ?? [];
		expect(shown).toContain("Keep.");
		expect(shown).not.toContain("u0");
	});
});

test("pinned messages are bounded: a window keeps as many as its size, a summary a quarter of its limit", async () => {
	const model = scriptedModel(() => "answer");
	const messages = Array.from({ length: 60 }, (_, at) =>
		at % 2 === 0 ? pinned(`p${at}`) : new AssistantMessage("a"),
	);
	const state = AgentState.initial().withMessages(messages);
	const shownBy = async (options: Partial<AgentOptions>): Promise<string[]> => {
		await new Agent({ model, ...options }).generate("go", state);
		return model.requests.at(-1)?.messages.map(text) ?? [];
	};
	expect(await shownBy({ middleware: [slidingWindow(4)] })).toEqual(
		"p48 p50 p52 p54 p56 a p58 a go".split(" "),
	);
	const writing = { threshold: 8, keepRecent: 2, estimate };
	const shown = await shownBy({ middleware: [summarise({ ...writing, summarizer: summary })] });
	expect(shown).toEqual(["[Previous conversation summary]\nThey talked.", "p54", "p56", "p58", "a", "go"]);
});

test("only a user's message can be pinned, and a provider sees nothing of it", () => {
	const metadata = { holdfast: { pinned: true } };
	expect(isPinned(new AssistantMessage("a", undefined, { metadata }))).toBe(false);
	expect(isPinned(new UserMessage("a", { metadata: { holdfast: { pinned: "yes" } } as never }))).toBe(false);
	expect(isPinned(pinned("a"))).toBe(true);
});
