// Features of the matrix in which a sub-agent or a script asks: its parent shows the call and takes the answer.
import { createSandbox } from "@holdfast/sandbox";
import { codeMode } from "@holdfast/sandbox/code-mode";
import { type ScriptedReply, scriptedModel } from "@holdfast/testing";
import { Agent, type AgentOptions, createSubAgentTool, tool } from "holdfast";
import { definePlugin } from "holdfast/plugins";
import { z } from "zod";
import type { Came, Feature } from "./features.fixture.ts";

const parameters = z.object({ n: z.number() });
const nothing: Came = { shown: [], ran: [] };

/** Follows its history, so that it continues in another deployment: a call first, and an answer once it has the result. */
function callsOnce(name: string, args: Record<string, unknown>) {
	return scriptedModel(({ messages }): string | ScriptedReply => {
		const isAnswered = messages.at(-1)?.type === "tool_result";
		return isAnswered ? "done" : { toolCalls: [{ name, id: `c-${name}`, arguments: args }] };
	});
}

function act(ran: unknown[]) {
	const run = (input: unknown) => void ran.push(input);
	return tool({ name: "act", description: "Acts.", parameters, needsApproval: true, run });
}

/** A sub-agent that acts. */
function actor(name: string, n: number, ran: unknown[], options: Partial<AgentOptions> = {}) {
	const model = callsOnce("act", { n });
	return new Agent({ name, description: `Is ${name}.`, model, tools: [act(ran)], ...options });
}

/** A sub-agent that gives its work to another one. */
function manager(name: string, below: Agent, belowName: string) {
	const model = callsOnce(`delegate_to_${belowName}`, { prompt: "go" });
	return new Agent({ name, description: `Is ${name}.`, model, subagents: [below] });
}

const delegating = (...names: readonly string[]): ScriptedReply => ({
	toolCalls: names.map((name) => ({
		name: `delegate_to_${name}`,
		id: `d-${name}`,
		arguments: { prompt: "go" },
	})),
});

const doubling = definePlugin({
	name: "doubling",
	setup: (on) =>
		void on.on("tool.call", ({ input }) => ({ action: "modify", input: { ...input, n: input.n * 2 } })),
});

const sandbox = createSandbox({ workers: 1 });

/** Calls a tool twice, one call after the other, and ends at the first call that fails. */
const code = `const both = [{ n: 1 }, { n: 2 }];
for (const input of both) {
	try { await tools.act(input); } catch (error) { return error.message; }
}
return "acted";`;

export const subagentFeatures: readonly Feature[] = [
	{
		name: "approved calls of a script",
		turns: 1,
		script: [{ toolCalls: [{ name: "run_code", id: "s", arguments: { code } }] }, "done"],
		agent: (ran, model) => ({ model, tools: [codeMode({ tools: [act(ran)], sandbox })] }),
		say: () => ({ approved: true }),
		expected: { shown: [{ n: 1 }, { n: 2 }], ran: [{ n: 1 }, { n: 2 }] },
		unasked: nothing,
	},
	{
		name: "a denied call of a script",
		turns: 1,
		script: [{ toolCalls: [{ name: "run_code", id: "s", arguments: { code } }] }, "done"],
		agent: (ran, model) => ({ model, tools: [codeMode({ tools: [act(ran)], sandbox })] }),
		say: () => ({ approved: false }),
		expected: { shown: [{ n: 1 }], ran: [] },
		unasked: nothing,
	},
	{
		name: "an approved call of a sub-agent",
		turns: 1,
		script: [delegating("one"), "done"],
		agent: (ran, model) => ({ model, subagents: [actor("one", 1, ran)] }),
		say: () => ({ approved: true }),
		expected: { shown: [{ n: 1 }], ran: [{ n: 1 }] },
		unasked: nothing,
	},
	{
		name: "a denied call of a sub-agent",
		turns: 1,
		script: [delegating("one"), "done"],
		agent: (ran, model) => ({ model, subagents: [actor("one", 1, ran)] }),
		say: () => ({ approved: false }),
		expected: { shown: [{ n: 1 }], ran: [] },
		unasked: nothing,
	},
	{
		name: "an approved call three sub-agents deep",
		turns: 1,
		script: [delegating("one"), "done"],
		agent: (ran, model) => ({
			model,
			subagents: [manager("one", manager("two", actor("three", 3, ran), "three"), "two")],
		}),
		say: () => ({ approved: true }),
		expected: { shown: [{ n: 3 }], ran: [{ n: 3 }] },
		unasked: nothing,
	},
	{
		name: "calls of two sub-agents at once",
		turns: 1,
		script: [delegating("one", "two"), "done"],
		agent: (ran, model) => ({ model, subagents: [actor("one", 1, ran), actor("two", 2, ran)] }),
		say: ({ input }) => ({ approved: (input as { n: number }).n === 2 }),
		expected: { shown: [{ n: 1 }, { n: 2 }], ran: [{ n: 2 }] },
		unasked: nothing,
	},
	{
		name: "an input of a sub-agent that its plugin modifies",
		turns: 1,
		script: [delegating("one"), "done"],
		agent: (ran, model) => ({ model, subagents: [actor("one", 1, ran, { plugins: [doubling] })] }),
		say: () => ({ approved: true }),
		expected: { shown: [{ n: 2 }], ran: [{ n: 2 }] },
		unasked: nothing,
	},
	{
		name: "an approved call within a tool of createSubAgentTool",
		turns: 1,
		script: [{ toolCalls: [{ name: "explore", id: "e", arguments: { query: "x" } }] }, "done"],
		agent: (ran, model) => ({
			model,
			tools: [
				createSubAgentTool({
					agent: actor("one", 1, ran),
					name: "explore",
					description: "Explores.",
					parameters: { type: "object", properties: { query: { type: "string" } } },
				}),
			],
		}),
		say: () => ({ approved: true }),
		expected: { shown: [{ n: 1 }], ran: [{ n: 1 }] },
		unasked: nothing,
	},
];
