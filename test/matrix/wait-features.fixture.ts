// Features of the matrix in which a run waits for its provider or for a time: it continues by itself in every place.
import { type ScriptedModel, type ScriptedReply, scriptedModel } from "@holdfast/testing";
import { UPPError } from "@holdfast/upp";
import { Agent, type AgentOptions } from "holdfast";
import { strategy } from "holdfast/execution";
import { act, approve, call, type Feature, nothing } from "./features.fixture.ts";

const modelWait = { firstMs: 2, longestMs: 2 } as const;
const busy: ScriptedReply = { error: new UPPError("Busy.", "RATE_LIMITED", "scripted", "llm", 429) };

/** Waits for a time before it asks the model first, or after results, and else does as usual. */
function late(when: "first" | "results") {
	return strategy({
		name: "late",
		decide({ last }) {
			if (last.kind === "assistant") return { kind: "finish" };
			const isDue = last.kind !== "wait" && (last.kind === "results") === (when === "results");
			if (isDue) return { kind: "wait", tag: "the morning", until: Date.now() + 2 };
			return { kind: "model", tag: "act", step: "next", answered: "finishes" };
		},
	});
}

/** Scripts that continue over all deployments of a cell, by what the cell writes down. */
const models = new WeakMap<unknown[], ScriptedModel>();

/** A sub-agent that follows a script of its own. */
function actor(
	ran: unknown[],
	script: readonly (string | ScriptedReply)[],
	options: Partial<AgentOptions> = {},
): Agent {
	const model = models.get(ran) ?? scriptedModel([...script]);
	models.set(ran, model);
	return new Agent({ name: "one", description: "Is one.", model, tools: [act(ran)], ...options });
}

const delegation: ScriptedReply = {
	toolCalls: [{ name: "delegate_to_one", id: "d", arguments: { prompt: "go" } }],
};

/** A plain call has nowhere to wait: it gives the error of its provider. */
const notInACall = { "a call": "RATE_LIMITED" } as const;
const asked = { shown: [{ n: 1 }], ran: [{ n: 1 }] };

export const waitFeatures: readonly Feature[] = [
	{
		name: "a provider that is busy at first",
		turns: 1,
		script: [busy, call("c", { n: 1 }), "done"],
		agent: (ran, model) => ({ model, modelWait, tools: [act(ran, { needsApproval: false })] }),
		expected: { shown: [], ran: [{ n: 1 }] },
		requests: 3,
		refusals: notInACall,
	},
	{
		name: "a provider that is busy in each of two turns",
		turns: 2,
		script: [busy, "done", busy, busy, call("c", { n: 1 }), "done"],
		agent: (ran, model) => ({ model, modelWait, tools: [act(ran, { needsApproval: false })] }),
		expected: { shown: [], ran: [{ n: 1 }] },
		requests: 6,
		refusals: notInACall,
	},
	{
		name: "an approval after a wait for the provider",
		turns: 1,
		script: [busy, call("c", { n: 1 }), "done"],
		agent: (ran, model) => ({ model, modelWait, tools: [act(ran)] }),
		say: approve,
		expected: asked,
		requests: 3,
		refusals: notInACall,
	},
	{
		name: "an approval before a wait for the provider",
		turns: 1,
		script: [call("c", { n: 1 }), busy, "done"],
		agent: (ran, model) => ({ model, modelWait, tools: [act(ran)] }),
		say: approve,
		expected: asked,
		requests: 3,
		unasked: nothing,
		refusals: notInACall,
	},
	{
		name: "a denial before a wait for the provider",
		turns: 1,
		script: [call("c", { n: 1 }), busy, "done"],
		agent: (ran, model) => ({ model, modelWait, tools: [act(ran)] }),
		say: () => ({ approved: false }),
		expected: { shown: [{ n: 1 }], ran: [] },
		requests: 3,
		refusals: notInACall,
	},
	{
		name: "one id on both sides of a wait for the provider",
		turns: 1,
		script: [call("c", { n: 1 }), busy, call("c", { n: 2 }), busy, "done"],
		agent: (ran, model) => ({ model, modelWait, tools: [act(ran)] }),
		say: ({ input }) => ({ approved: (input as { n: number }).n === 2 }),
		expected: { shown: [{ n: 1 }, { n: 2 }], ran: [{ n: 2 }] },
		requests: 5,
		refusals: notInACall,
	},
	{
		name: "a strategy that waits at first",
		turns: 1,
		script: [call("c", { n: 1 }), "done"],
		agent: (ran, model) => ({
			model,
			execution: late("first"),
			tools: [act(ran, { needsApproval: false })],
		}),
		expected: { shown: [], ran: [{ n: 1 }] },
	},
	{
		name: "an approval after the wait of a strategy",
		turns: 1,
		script: [call("c", { n: 1 }), "done"],
		agent: (ran, model) => ({ model, execution: late("first"), tools: [act(ran)] }),
		say: approve,
		expected: asked,
		unasked: nothing,
	},
	{
		name: "an approval before the wait of a strategy",
		turns: 1,
		script: [call("c", { n: 1 }), "done"],
		agent: (ran, model) => ({ model, execution: late("results"), tools: [act(ran)] }),
		say: approve,
		expected: asked,
		unasked: nothing,
	},
	{
		name: "an approval on both sides of the wait of a strategy",
		turns: 1,
		script: [call("c", { n: 1 }), call("c", { n: 2 }), "done"],
		agent: (ran, model) => ({ model, execution: late("results"), tools: [act(ran)] }),
		say: approve,
		expected: { shown: [{ n: 1 }, { n: 2 }], ran: [{ n: 1 }, { n: 2 }] },
		unasked: nothing,
	},
	{
		name: "an approval after a sub-agent's wait for its provider",
		turns: 1,
		script: [delegation, "done"],
		agent: (ran, model) => ({
			model,
			subagents: [actor(ran, [busy, call("c", { n: 1 }), "done"], { modelWait })],
		}),
		say: approve,
		expected: asked,
		unasked: nothing,
	},
	{
		name: "an approval before a sub-agent's wait for its provider",
		turns: 1,
		script: [delegation, "done"],
		agent: (ran, model) => ({
			model,
			subagents: [actor(ran, [call("c", { n: 1 }), busy, "done"], { modelWait })],
		}),
		say: approve,
		expected: asked,
		unasked: nothing,
	},
	{
		name: "an approval of a sub-agent before the wait of its parent for the provider",
		turns: 1,
		script: [delegation, busy, "done"],
		agent: (ran, model) => ({ model, modelWait, subagents: [actor(ran, [call("c", { n: 1 }), "done"])] }),
		say: approve,
		expected: asked,
		requests: 3,
		refusals: notInACall,
	},
	{
		name: "an approval of a sub-agent after the wait of its strategy",
		turns: 1,
		script: [delegation, "done"],
		agent: (ran, model) => ({
			model,
			subagents: [actor(ran, [call("c", { n: 1 }), "done"], { execution: late("first") })],
		}),
		say: approve,
		expected: asked,
		unasked: nothing,
	},
];
