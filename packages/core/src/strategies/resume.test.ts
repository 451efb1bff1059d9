// A run that is interrupted after any of its entries and resumed ends like an uninterrupted one.

import { type ScriptedReply, scriptedModel } from "@holdfast/testing";
import { type LLMRequest, ToolResultMessage } from "@holdfast/upp";
import { describe, expect, test } from "vitest";
import { anyTool, contentOf, lines } from "../agent/agent.fixture.ts";
import { Agent } from "../agent/agent.ts";
import type { AgentStrategy } from "../engine/engine-agent.ts";
import { cutOff } from "../host/cut-off.fixture.ts";
import { journalHost } from "../host/host-port.ts";
import { type MemoryJournal, memoryJournal } from "../host/memory-journal.ts";
import type { DecidingStrategy } from "./execution-strategy.ts";
import { loop } from "./loop.ts";
import { planOf } from "./plan.fixture.ts";
import { plan } from "./plan.ts";
import { react } from "./react.ts";

const pure = { retryPolicy: "pure" } as const;
const tools = [
	anyTool("look", ({ at }) => `seen ${at}`, pure),
	anyTool("fail", () => Promise.reject(new Error("no luck")), pure),
];
const bothCalls = (at: number): ScriptedReply => ({
	text: `Acting ${at}.`,
	toolCalls: [
		{ name: "look", arguments: { at }, id: `l${at}` },
		{ name: "fail", id: `f${at}` },
	],
});

/** Depends only on the request: the same request gets the same answer. */
function answerTo({ messages, structure }: LLMRequest): ScriptedReply | string {
	const prompt = lines(messages).at(-1) ?? "";
	const rounds = messages.filter((message) => message instanceof ToolResultMessage).length;
	if (structure !== undefined) {
		if (prompt.includes("failed")) return planOf({ id: "d", dependsOn: ["a"] }, { id: "e" });
		return planOf({ id: "c", dependsOn: ["b"] }, { id: "b", tool: "fail", dependsOn: ["a"] }, { id: "a" });
	}
	const step = /Carry out step "(.)"/.exec(prompt)?.[1];
	if (step === "e") return { error: new Error("the model is down") };
	if (step !== undefined) {
		const done = messages.at(-2) instanceof ToolResultMessage;
		return done ? `${step} is carried out.` : bothCalls(rounds);
	}
	if (prompt === "user: Think.") return `Thought ${rounds}.`;
	return rounds < 3 ? bothCalls(rounds) : "Done.";
}

const strategies: [string, DecidingStrategy, number | undefined][] = [
	["loop", loop(), undefined],
	["react", react({ reasoningPrompt: "Think." }), undefined],
	["react, stopped after step 2", react({ reasoningPrompt: "Think." }), 2],
	["plan, stopped after step 1", plan(), 1],
	["plan, stopped after its failed step", plan(), 2],
	["plan, made anew", plan(), 3],
];

function agentOver(
	journal: MemoryJournal,
	execution: DecidingStrategy,
	stopAfter: number | undefined,
): Agent {
	const strategy: AgentStrategy =
		stopAfter === undefined ? {} : { stopCondition: ({ step }) => step >= stopAfter };
	return new Agent({
		model: scriptedModel(answerTo),
		tools,
		execution,
		strategy,
		host: journalHost(journal),
	});
}

describe.each(strategies)("%s", (_, execution, stopAfter) => {
	test("resumed from every entry, it ends the same", async () => {
		const journal = memoryJournal();
		const alone = agentOver(journal, execution, stopAfter);
		const { state, turn } = await (await alone.session("k").send("go")).result();
		const entries = await journal.read("k");
		expect(entries.at(-1)?.fact).toMatchObject({ kind: "run.ended", outcome: "completed" });
		expect(entries.length).toBeGreaterThan(8);
		for (let kept = 2; kept < entries.length; kept++) {
			const next = agentOver(cutOff(entries.slice(0, kept)), execution, stopAfter);
			const run = await next.session("k").resume();
			const found = await run?.result();
			expect(contentOf(found?.state as never), `cut after entry ${kept}`).toEqual(contentOf(state));
			expect(found?.turn?.response.text).toBe(turn?.response.text);
			expect(found?.outcome).toBe("completed");
			await next.close();
		}
		await alone.close();
	});
});
