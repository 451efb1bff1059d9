// Assembling a request costs the same at the end of a long run as at its beginning: every message is measured once.
import { scriptedModel } from "@holdfast/testing";
import type { Message } from "@holdfast/upp";
import { describe, expect, test } from "vitest";
import { anyTool } from "../agent/agent.fixture.ts";
import { Agent } from "../agent/agent.ts";
import type { AgentOptions } from "../agent/options.ts";
import { memoryHost } from "../host/memory-host.ts";
import { pruneToolOutputs } from "./middleware/prune-tool-outputs.ts";
import { summarise } from "./middleware/summarise.ts";
import { compaction } from "./plugins/compaction.ts";

const steps = 800;
/** Steps in which the calls of `estimate` are counted, early and late. */
const counted = 200;

type Estimate = (message: Message) => number;
const policies: Readonly<Record<string, (estimate: Estimate) => Partial<AgentOptions>>> = {
	"pruneToolOutputs() that clears another output in each step": (estimate) => ({
		middleware: [pruneToolOutputs({ contextLimit: 200, outputReserve: 0, protectRecent: 100, estimate })],
	}),
	"pruneToolOutputs() in blocks": (estimate) => ({
		middleware: [
			pruneToolOutputs({ contextLimit: 200, outputReserve: 0, protectRecent: 50, block: 50, estimate }),
		],
	}),
	"compaction()": (estimate) => ({
		plugins: [compaction({ maxTokens: 200, keepRecent: 20, summarise: () => "They looked.", estimate })],
	}),
	"compaction() that is never needed": (estimate) => ({
		plugins: [compaction({ maxTokens: 1e9, summarise: () => "They looked.", estimate })],
	}),
	"summarise()": (estimate) => ({
		middleware: [summarise({ threshold: 200, summarizer: () => "They looked.", estimate })],
	}),
};

describe("the messages that are measured per step do not increase", () => {
	test.each(Object.keys(policies))("%s", async (name) => {
		let measured = 0;
		const estimate: Estimate = () => {
			measured++;
			return 5;
		};
		const marks: number[] = [];
		const model = scriptedModel((_, call) => {
			marks.push(measured);
			return call + 1 < steps ? { toolCalls: [{ name: "look", arguments: {} }] } : "Done.";
		});
		const agent = new Agent({
			model,
			host: memoryHost(),
			maxSteps: Number.POSITIVE_INFINITY,
			tools: [anyTool("look", () => "seen", { retryPolicy: "pure" })],
			...policies[name]?.(estimate),
		});
		expect((await (await agent.session("s").send("Go.")).result()).outcome).toBe("completed");
		const early = (marks[2 * counted - 1] as number) - (marks[counted - 1] as number);
		const late = (marks[steps - 1] as number) - (marks[steps - 1 - counted] as number);
		expect(early).toBeGreaterThan(counted);
		expect(late).toBeLessThanOrEqual(early * 1.2);
		expect(late).toBeLessThan(counted * 12);
	});
});
