// Features of the matrix in which a task in the background asks: the session has ended its turn, and shows the call all the same.
import { type ScriptedReply, scriptedModel } from "@holdfast/testing";
import { Agent, type AgentOptions, type AnyTool } from "holdfast";
import { z } from "zod";
import { act, type Came, type Feature, nothing, parameters } from "./features.fixture.ts";

const inBackground = (...names: readonly string[]): ScriptedReply => ({
	toolCalls: names.map((name) => ({
		name: `delegate_to_${name}`,
		id: `d-${name}`,
		arguments: { prompt: "go", run_in_background: true },
	})),
});

/** A sub-agent that calls a tool once. It follows its history, so that it continues in another deployment. */
function actor(
	name: string,
	n: number,
	tools: readonly AnyTool[],
	options: Partial<AgentOptions> = {},
): Agent {
	const model = scriptedModel(({ messages }): string | ScriptedReply => {
		const isAnswered = messages.at(-1)?.type === "tool_result";
		const called = tools[0]?.name ?? "";
		return isAnswered ? "done" : { toolCalls: [{ name: called, id: "c", arguments: { n } }] };
	});
	return new Agent({ name, description: `Is ${name}.`, model, tools: [...tools], ...options });
}

const remote = { name: "act", description: "Acts.", parameters: z.toJSONSchema(parameters) };
const one: Came = { shown: [{ n: 1 }], ran: [{ n: 1 }] };

export const backgroundFeatures: readonly Feature[] = [
	{
		name: "an approved call of a task in the background",
		turns: 1,
		background: 1,
		script: [inBackground("one"), "begun", "noted"],
		agent: (ran, model) => ({ model, subagents: [actor("one", 1, [act(ran)])] }),
		say: () => ({ approved: true }),
		expected: one,
		unasked: nothing,
	},
	{
		name: "a denied call of a task in the background",
		turns: 1,
		background: 1,
		script: [inBackground("one"), "begun", "noted"],
		agent: (ran, model) => ({ model, subagents: [actor("one", 1, [act(ran)])] }),
		say: () => ({ approved: false }),
		expected: { shown: [{ n: 1 }], ran: [] },
		unasked: nothing,
	},
	{
		name: "calls of two tasks in the background",
		turns: 1,
		background: 2,
		script: [inBackground("one", "two"), "begun", "noted"],
		agent: (ran, model) => ({ model, subagents: [actor("one", 1, [act(ran)]), actor("two", 2, [act(ran)])] }),
		say: ({ input }) => ({ approved: (input as { n: number }).n === 2 }),
		expected: { shown: [{ n: 1 }, { n: 2 }], ran: [{ n: 2 }] },
		unasked: nothing,
	},
	{
		name: "a remote tool of a task in the background",
		turns: 1,
		background: 1,
		script: [inBackground("one"), "begun", "noted"],
		agent: (_, model) => ({ model, subagents: [actor("one", 1, [remote])] }),
		say: () => ({ output: "done" }),
		expected: { shown: [{ n: 1 }], ran: [] },
		unasked: nothing,
	},
	{
		name: "a call of a task in the background below another one",
		turns: 1,
		// The task waits with its sub-agent.
		background: 2,
		script: [inBackground("top"), "begun", "noted"],
		agent: (ran, model) => {
			const top = scriptedModel(({ messages }): string | ScriptedReply =>
				messages.at(-1)?.type === "tool_result"
					? "done"
					: { toolCalls: [{ name: "delegate_to_one", id: "d", arguments: { prompt: "go" } }] },
			);
			const subagents = [actor("one", 1, [act(ran)])];
			return {
				model,
				subagents: [new Agent({ name: "top", description: "Is top.", model: top, subagents })],
			};
		},
		say: () => ({ approved: true }),
		expected: one,
		unasked: nothing,
	},
];
