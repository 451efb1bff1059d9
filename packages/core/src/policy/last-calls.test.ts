// However little of a history a policy keeps, the model sees the results of its last calls. Otherwise it would make the
// same calls again in each step.
import { scriptedModel } from "@holdfast/testing";
import { isToolResultMessage } from "@holdfast/upp";
import { describe, expect, test } from "vitest";
import { Agent } from "../agent/agent.ts";
import type { AgentOptions } from "../agent/options.ts";
import { pruneToolOutputs } from "./middleware/prune-tool-outputs.ts";
import { slidingWindow } from "./middleware/sliding-window.ts";
import { summarise } from "./middleware/summarise.ts";
import { compaction } from "./plugins/compaction.ts";

const estimate = (): number => 1;
const short = (): string => "S.";
const policies: Readonly<Record<string, () => Partial<AgentOptions>>> = {
	"slidingWindow of 1": () => ({ middleware: [slidingWindow({ max: 1 })] }),
	"slidingWindow of 2 in blocks": () => ({ middleware: [slidingWindow({ max: 2, block: 2 })] }),
	"slidingWindow of 1 token": () => ({ middleware: [slidingWindow({ maxTokens: 1 })] }),
	"slidingWindow of 1, and of 1 token": () => ({ middleware: [slidingWindow({ max: 1, maxTokens: 1 })] }),
	pruneToolOutputs: () => ({
		middleware: [pruneToolOutputs({ contextLimit: 0, outputReserve: 0, protectRecent: 0 })],
	}),
	"summarise without recent messages": () => ({
		middleware: [summarise({ summarizer: short, threshold: 0, keepRecent: 0, estimate })],
	}),
	"summarise with one": () => ({
		middleware: [summarise({ summarizer: short, threshold: 0, keepRecent: 1, estimate })],
	}),
	compaction: () => ({
		plugins: [compaction({ maxTokens: 1, keepRecent: 1, prepareAt: 1, summarise: short, estimate })],
	}),
	"compaction ahead": () => ({
		plugins: [compaction({ maxTokens: 4, keepRecent: 1, prepareAt: 0, summarise: short, estimate })],
	}),
};

describe.each(["session", "call"] as const)("in a %s", (kind) => {
	test.each(
		Object.keys(policies).flatMap((name) => [
			[name, "alone"],
			[name, "before a steering message"],
		]),
	)("%s keeps the last results, %s", async (name, how) => {
		if (kind === "call" && how !== "alone") return;
		const model = scriptedModel(({ messages }) => {
			const results = messages.filter(isToolResultMessage).flatMap((each) => each.results);
			const isSeen = results.filter(({ result }) => result === "seen").length >= 2;
			return isSeen ? "Done." : { toolCalls: [{ name: "look" }, { name: "look" }] };
		});
		const look = {
			name: "look",
			description: "Looks.",
			parameters: { type: "object" } as const,
			async run() {
				if (how !== "alone") await session.steer("Faster.");
				return "seen";
			},
		};
		const agent = new Agent({ model, tools: [look], maxSteps: 4, ...policies[name]?.() });
		const session = agent.session("s");
		if (kind === "call") {
			expect((await agent.generate("Go.")).turn.response.text).toBe("Done.");
			return;
		}
		for (let turn = 0; turn < 3; turn++) {
			const { text, error } = await (await session.send("Go.")).result();
			expect([error, text]).toEqual([undefined, "Done."]);
		}
		expect(model.requests).toHaveLength(6);
	});
});
