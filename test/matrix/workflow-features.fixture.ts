// Features of the matrix that are workflows: at the top, as children, and below agents that use them as tools.
import { createSandbox } from "@holdfast/sandbox";
import { codeMode } from "@holdfast/sandbox/code-mode";
import { type ScriptedReply, scriptedModel } from "@holdfast/testing";
import { Agent, type AgentOptions, createSubAgentTool, tool } from "holdfast";
import { type Flow, type Workflow, workflow } from "holdfast/workflow";
import { z } from "zod";
import type { Asked, Came, Feature, Said } from "./features.fixture.ts";

type Code = (flow: Flow, ran: unknown[]) => Promise<unknown>;

const parameters = z.object({ n: z.number() });
const prompt = { type: "object", properties: { prompt: { type: "string" } } } as const;

/** Writes down what it is called with, as a recorded step. */
const note = (flow: Flow, ran: unknown[], value: unknown): Promise<void> =>
	flow.step("note", () => void ran.push(value), { retryPolicy: "idempotent" });

/** Waits, so that another process may continue, and asks a person twice. */
const review: Code = async (flow, ran) => {
	await flow.sleep(2);
	const isPaid = await flow.approve("pay", { n: 1 });
	await note(flow, ran, { isPaid });
	const color = await flow.ask("color", { n: 2 });
	await note(flow, ran, { color });
	return { isPaid, color };
};

const shownByReview = [
	{ name: "pay", details: { n: 1 } },
	{ question: "color", details: { n: 2 } },
];
const answered = { shown: shownByReview, ran: [{ isPaid: true }, { color: "blue" }] };

const answer = ({ awaits }: Asked): Said => (awaits === "approval" ? { approved: true } : { output: "blue" });
const deny = ({ awaits }: Asked): Said => (awaits === "approval" ? { approved: false } : { output: "blue" });

function made(code: Code, ran: unknown[], options: Partial<Parameters<typeof workflow>[0]> = {}): Workflow {
	return workflow({ name: "review", ...options }, (flow) => code(flow, ran)) as Workflow;
}

/** A workflow as options, which the places give a host. */
function served(
	code: Code,
	options: (ran: unknown[]) => Partial<Parameters<typeof workflow>[0]> = () => ({}),
) {
	return (ran: unknown[]): AgentOptions => ({ ...made(code, ran, options(ran)).agent }) as AgentOptions;
}

const delegating = (name: string): ScriptedReply => ({
	toolCalls: [{ name, id: "d", arguments: { prompt: "go" } }],
});

function act(ran: unknown[]) {
	const run = (input: unknown) => void ran.push(input);
	return tool({ name: "act", description: "Acts.", parameters, needsApproval: true, run });
}

/** An agent that calls `act` once. */
function actor(ran: unknown[]) {
	const model = scriptedModel(({ messages }): string | ScriptedReply =>
		messages.at(-1)?.type === "tool_result"
			? "done"
			: { toolCalls: [{ name: "act", id: "c", arguments: { n: 3 } }] },
	);
	return new Agent({ name: "actor", description: "Acts.", model, tools: [act(ran)] });
}

const sandbox = createSandbox({ workers: 1 });
const asTool = (ran: unknown[]) =>
	createSubAgentTool({
		agent: made(review, ran).agent,
		name: "review",
		description: "Reviews.",
		parameters: prompt,
		retryPolicy: "idempotent",
	});

/** Without a session, nobody can be asked. */
const top = { turns: 1, script: [], refusals: { "a call": "tool_call_failed" } } as const;
const unasked: Came = { shown: [], ran: [] };

export const workflowFeatures: readonly Feature[] = [
	{ ...top, name: "a workflow", agent: served(review), say: answer, expected: answered },
	{
		...top,
		name: "a workflow whose approval is denied",
		agent: served(review),
		say: deny,
		expected: { shown: shownByReview, ran: [{ isPaid: false }, { color: "blue" }] },
	},
	{
		...top,
		name: "two runs of a workflow",
		turns: 2,
		agent: served(review),
		say: answer,
		expected: {
			shown: [...shownByReview, ...shownByReview],
			ran: [...answered.ran, ...answered.ran],
		},
	},
	{
		...top,
		name: "two approvals of a workflow at once",
		agent: served(async (flow, ran) => {
			const both = await Promise.all([flow.approve("one"), flow.approve("two")]);
			await note(flow, ran, both);
		}),
		say: ({ input }) => ({ approved: (input as { name: string }).name === "two" }),
		expected: {
			shown: [
				{ name: "one", details: null },
				{ name: "two", details: null },
			],
			ran: [[false, true]],
		},
	},
	{
		...top,
		name: "a tool of a workflow that needs approval",
		agent: served(
			(flow, ran) => flow.tool(act(ran), { n: 1 }),
			(ran) => ({ tools: [act(ran)] }),
		),
		say: answer,
		expected: { shown: [{ n: 1 }], ran: [{ n: 1 }] },
	},
	{
		...top,
		name: "an agent of a workflow whose call needs approval",
		agent(ran) {
			const agent = actor(ran);
			const code: Code = (flow) => flow.agent(agent, "go");
			return served(code, () => ({ subagents: [agent] }))(ran);
		},
		say: answer,
		expected: { shown: [{ n: 3 }], ran: [{ n: 3 }] },
	},
	{
		...top,
		name: "a child workflow",
		agent(ran) {
			const child = made(review, ran, { name: "child" });
			const code: Code = (flow) => flow.child(child, {});
			return served(code, () => ({ workflows: [child] }))(ran);
		},
		say: answer,
		expected: answered,
	},
	{
		name: "a workflow as a sub-agent",
		turns: 1,
		script: [delegating("delegate_to_review"), "done"],
		agent: (ran, model) => ({ model, subagents: [made(review, ran).agent] }),
		say: answer,
		expected: answered,
		unasked,
	},
	{
		name: "a workflow as a tool of createSubAgentTool",
		turns: 1,
		script: [delegating("review"), "done"],
		agent: (ran, model) => ({ model, tools: [asTool(ran)] }),
		say: answer,
		expected: answered,
		unasked,
	},
	{
		name: "a workflow that a script calls",
		turns: 1,
		script: [
			{
				toolCalls: [
					{ name: "run_code", id: "s", arguments: { code: 'return tools.review({ prompt: "go" });' } },
				],
			},
			"done",
		],
		agent: (ran, model) => ({ model, tools: [codeMode({ tools: [asTool(ran)], sandbox })] }),
		say: answer,
		expected: answered,
		unasked,
	},
];
