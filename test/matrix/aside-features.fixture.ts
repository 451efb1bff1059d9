// Features of the matrix in which somebody else uses the session while its calls wait.
import { type ScriptedReply, scriptedModel } from "@holdfast/testing";
import { UPPError } from "@holdfast/upp";
import { Agent, createSubAgentTool } from "holdfast";
import { type Aside, act, approve, call, type Feature, nothing } from "./features.fixture.ts";

const modelWait = { firstMs: 250, longestMs: 250 } as const;
const busy: ScriptedReply = { error: new UPPError("Busy.", "RATE_LIMITED", "scripted", "llm", 429) };

/** A request while the run waits for its provider. */
function whileBusy(what: string, asideOfProvider: Aside): Feature {
	return {
		name: `${what} while the provider is busy`,
		turns: 1,
		script: [busy, call("c", { n: 1 }), "done"],
		agent: (ran, model) => ({ model, modelWait, tools: [act(ran, { needsApproval: false })] }),
		asideOfProvider,
		expected: { shown: [], ran: [{ n: 1 }] },
		requests: 3,
	};
}

const refusedWith = (code: string): NonNullable<Feature["refusals"]> => ({
	"a session in memory": code,
	"a session on SQLite": code,
	"a session on Postgres": code,
});

/** What a slow call waits for, by what its cell writes down. */
const gates = new WeakMap<unknown[], PromiseWithResolvers<void>>();

/** How work is given to a sub-agent. */
type Gives = "a sub-agent" | "a tool of createSubAgentTool" | "a sub-agent of a sub-agent";

/** The same within a sub-agent, which still runs as its call is answered at the top. */
function besideSlowBelow(what: Aside, gives: Gives, came: readonly unknown[]): Feature {
	const above = besideSlow(what, came);
	const once = (reply: ScriptedReply) =>
		scriptedModel(({ messages }) => (messages.at(-1)?.type === "tool_result" ? "done" : reply));
	const delegate = (name: string): ScriptedReply => ({
		toolCalls: [{ name, id: "g", arguments: { prompt: "go" } }],
	});
	const name = gives === "a tool of createSubAgentTool" ? "ask" : "delegate_to_one";
	const parameters = { type: "object", properties: { prompt: { type: "string" } } } as const;
	return {
		...above,
		name: `${what} within ${gives} that still runs another call`,
		script: [delegate(name), "done"],
		agent(ran, model) {
			const description = "Works.";
			const tools = above.agent(ran, model).tools ?? [];
			const worker = { description, model: once(both), tools };
			const works = new Agent({ name: "works", ...worker });
			if (name === "ask")
				return { model, tools: [createSubAgentTool({ agent: works, name, description, parameters })] };
			if (gives === "a sub-agent") return { model, subagents: [new Agent({ name: "one", ...worker })] };
			const hands = once(delegate("delegate_to_works"));
			return {
				model,
				subagents: [new Agent({ name: "one", description, model: hands, subagents: [works] })],
			};
		},
	};
}

/** A call that waits, and one that is slow. */
const both: ScriptedReply = {
	toolCalls: [
		{ name: "act", id: "c", arguments: { n: 1 } },
		{ name: "look", id: "d", arguments: { n: 2 } },
	],
};

/** An answer for a call that waits while another one runs. */
function besideSlow(what: Aside, came: readonly unknown[]): Feature {
	const slow = (ran: unknown[]) => (input: unknown) => {
		ran.push(input);
		const gate = Promise.withResolvers<void>();
		gates.set(ran, gate);
		return gate.promise;
	};
	return {
		name: `${what} while another call runs`,
		turns: 1,
		script: [both, "done"],
		agent: (ran, model) => ({
			model,
			tools: [act(ran), act(ran, { name: "look", needsApproval: false, run: slow(ran) as never })],
		}),
		asideOfSibling: [what, (ran) => gates.get(ran)?.resolve()],
		expected: { shown: [], ran: came },
		requests: 2,
	};
}

const asked = { shown: [{ n: 1 }], ran: [{ n: 1 }] };

export const asideFeatures: readonly Feature[] = [
	{
		name: "a message that is sent while an approval waits, which is a turn of its own",
		turns: 1,
		script: [call("c", { n: 1 }), "done", "answered"],
		agent: (ran, model) => ({ model, tools: [act(ran)] }),
		say: approve,
		aside: "send",
		expected: asked,
		requests: 3,
	},
	{
		name: "an interrupt while an approval waits, whose answer is then refused",
		turns: 1,
		script: [call("c", { n: 1 }), "done"],
		agent: (ran, model) => ({ model, tools: [act(ran)] }),
		say: approve,
		aside: "interrupt",
		expected: { shown: [{ n: 1 }], ran: [] },
		refusals: {
			"a session in memory": "no_pending_tool_calls",
			"a session on SQLite": "no_pending_tool_calls",
			"a session on Postgres": "no_pending_tool_calls",
		},
	},
	{
		name: "an overlay while an approval waits, which the next request has",
		turns: 1,
		script: [call("c", { n: 1 }), "done"],
		agent: (ran, model) => ({ model, tools: [act(ran)] }),
		say: approve,
		aside: "overlay",
		expected: asked,
		requests: 2,
	},
	{
		name: "an edit of the history while an approval waits",
		turns: 1,
		script: [call("c", { n: 1 }), "done"],
		agent: (ran, model) => ({ model, tools: [act(ran)] }),
		say: approve,
		aside: "edit",
		expected: asked,
		requests: 2,
	},
	{
		...whileBusy("a message", "send"),
		script: [busy, call("c", { n: 1 }), "done", "answered"],
		requests: 4,
	},
	whileBusy("a steer, which ends the wait", "steer"),
	whileBusy("an overlay", "overlay"),
	whileBusy("an edit", "edit"),
	{
		...whileBusy("an interrupt, which ends the run", "interrupt"),
		expected: nothing,
		requests: 1,
	},
	{
		...whileBusy("a kill, which ends the run", "kill"),
		expected: nothing,
		requests: 1,
	},
	{
		...whileBusy("a fork, which needs a run that has ended", "fork"),
		refusals: refusedWith("fork_unsettled"),
	},
	{
		name: "an approval after a steer while the provider is busy",
		turns: 1,
		script: [busy, call("c", { n: 1 }), "done"],
		agent: (ran, model) => ({ model, modelWait, tools: [act(ran)] }),
		say: approve,
		asideOfProvider: "steer",
		expected: asked,
		requests: 3,
	},
	besideSlow("approve", [{ n: 2 }, { n: 1 }]),
	besideSlow("deny", [{ n: 2 }]),
	besideSlowBelow("approve", "a sub-agent", [{ n: 2 }, { n: 1 }]),
	besideSlowBelow("deny", "a sub-agent", [{ n: 2 }]),
	besideSlowBelow("approve", "a tool of createSubAgentTool", [{ n: 2 }, { n: 1 }]),
	besideSlowBelow("approve", "a sub-agent of a sub-agent", [{ n: 2 }, { n: 1 }]),
];
