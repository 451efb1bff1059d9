// Features of the matrix in which a thread gives its work to other agents, or to a prompt.
import { definePlugin } from "holdfast/plugins";
import { busy, call, gone, one, type ThreadFeature, to } from "./thread-features.fixture.ts";

/** Doubles what the tool is given, and leaves calls of agents alone. */
const onlyDoubles = definePlugin({
	name: "doubling",
	setup: (on) =>
		void on.on("tool.call", ({ input }) =>
			"n" in input ? { action: "modify", input: { ...input, n: input.n * 2 } } : undefined,
		),
});

/** Features in which an agent gives its work to others, which it waits for. */
export const threadSubagentFeatures: readonly ThreadFeature[] = subagents();

function subagents(): readonly ThreadFeature[] {
	const worker = { name: "worker", initUserMessageProperty: "message" };
	const digger = { name: "digger", initUserMessageProperty: "message" };
	const expected = {
		...one,
		said: ["user: turn", "assistant: <worker>", "tool: worked", "assistant: done"],
	};
	const working = [call("c", { n: 1 }), "worked"];
	return [
		{
			name: "a sub-agent that acts",
			turns: 1,
			scripts: { main: [to("worker"), "done"], worker: working },
			main: [worker],
			agents: { worker: ["act"] },
			expected,
		},
		{
			name: "a sub-agent that acts in each of two turns, with one id",
			turns: 2,
			scripts: { main: [to("worker"), "done", to("worker"), "done"], worker: [...working, ...working] },
			main: [worker],
			agents: { worker: ["act"] },
			expected: { ran: [{ n: 1 }, { n: 1 }], said: [...expected.said, ...expected.said] },
		},
		{
			name: "an agent two sub-agents deep",
			turns: 1,
			scripts: {
				main: [to("worker"), "done"],
				worker: [to("digger"), "worked"],
				digger: [call("c", { n: 1 }), "dug"],
			},
			main: [worker],
			agents: { worker: [digger], digger: ["act"] },
			expected,
		},
		{
			name: "two sub-agents at once",
			turns: 1,
			scripts: {
				main: [
					{
						calls: [
							["worker", "d", { message: "go" }],
							["digger", "e", { message: "go" }],
						],
					},
					"done",
				],
				worker: working,
				digger: [call("c", { n: 2 }), "dug"],
			},
			main: [worker, digger],
			agents: { worker: ["act"], digger: ["act"] },
			expected: {
				ran: [{ n: 1 }, { n: 2 }],
				said: ["user: turn", "assistant: <worker> <digger>", "tool: worked", "tool: dug", "assistant: done"],
			},
		},
		{
			name: "a sub-agent whose provider is busy",
			turns: 1,
			scripts: { main: [to("worker"), "done"], worker: [busy(), ...working] },
			main: [worker],
			agents: { worker: ["act"] },
			waitsFor: "provider",
			expected,
		},
		{
			name: "an input of a sub-agent that a plugin modifies",
			turns: 1,
			scripts: { main: [to("worker"), "done"], worker: working },
			main: [worker],
			agents: { worker: ["act"] },
			options: { plugins: [onlyDoubles] },
			expected: { ...expected, ran: [{ n: 2 }] },
		},
		{
			name: "a stop while the provider of a sub-agent is busy",
			turns: 2,
			scripts: { main: [to("worker"), "done"], worker: [gone] },
			main: [worker],
			agents: { worker: ["act"] },
			waitsFor: "provider",
			aside: (threads, threadId) => threads.stop(threadId),
			expected: {
				ran: [],
				said: ["user: turn", "assistant: <worker>", "tool: The", "user: turn", "assistant: done"],
			},
		},
		{
			name: "a prompt that is called as a tool while its provider is busy",
			turns: 1,
			waitsFor: "provider",
			// Long enough for a restart to come before its end, on each store.
			options: { modelWait: { firstMs: 500, longestMs: 500 } },
			scripts: { main: [to("summary_prompt"), "done"], summary: [busy(), "summed", "summed"] },
			main: ["summary_prompt"],
			prompts: ["summary"],
			expected: {
				ran: [],
				said: ["user: turn", "assistant: <summary_prompt>", "tool: summed", "assistant: done"],
			},
		},
		{
			name: "a prompt that is called as a tool while its provider is busy and nothing waits",
			turns: 1,
			options: { modelWait: "never" },
			scripts: { main: [to("summary_prompt"), "done"], summary: [busy()] },
			main: ["summary_prompt"],
			prompts: ["summary"],
			expected: {
				ran: [],
				said: ["user: turn", "assistant: <summary_prompt>", "tool: Busy.", "assistant: done"],
			},
		},
	];
}
