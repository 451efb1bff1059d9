import { describe, expect, test } from "vitest";
import { Agent } from "../../agent/agent.ts";
import type { RuntimeLlm } from "../../agent/runtime-llm.ts";
import { memory } from "./memory.ts";
import { definePlugin } from "./plugin.ts";
import { eventsOf } from "./plugins.fixture.ts";

describe("plugins of an agent whose model is a function", () => {
	test("take part in its turns and steps but not in its tools [SES-136]", async () => {
		const called: string[] = [];
		const plugin = definePlugin({
			name: "noting",
			setup(host) {
				const hooks = ["turn.before", "step.before", "step.after", "tool.call", "tool.result"] as const;
				for (const hook of hooks) host.on(hook, () => void called.push(hook));
			},
		});
		let asked = 0;
		const model: RuntimeLlm = () => {
			if (asked++ > 0) return [{ role: "assistant", content: "done" }];
			const call = { toolCallId: "c", toolName: "own" };
			return [
				{
					role: "assistant",
					content: [{ type: "tool-call", ...call, input: {} }],
				},
				{
					role: "tool",
					content: [{ type: "tool-result", ...call, output: "seen" }],
				},
			];
		};
		const agent = await Agent.create({ model, plugins: [plugin] });
		const events = await eventsOf(agent, "go");
		expect(called).toEqual(["turn.before", "step.before", "step.after", "step.before", "step.after"]);
		expect(events.map(({ type }) => type)).toEqual([
			"user-text",
			"turn-start",
			"step-start",
			"tool-call",
			"tool-result",
			"step-end",
			"step-start",
			"assistant-text",
			"step-end",
			"turn-end",
		]);
	});

	test("cannot give it tools: that is a TypeError", async () => {
		const created = Agent.create({ model: () => [], plugins: [memory()] });
		await expect(created).rejects.toThrow(/which has its own/);
	});
});
