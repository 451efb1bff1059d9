// What the features of the matrix in the runner are made of: agents, plans, policies and answers.
import {
	type AgentConfig,
	type LLMClient,
	type PlanActReflectOptions,
	type PolicyDecision,
	type PolicyQuestion,
	planActReflect,
	RunnerAgent,
	type RunnerStep,
	type RunnerTool,
	stepsPlanner,
} from "@holdfast/runner";
import { type ScriptedReply, scriptedModel } from "@holdfast/testing";
import { Agent, type AgentOptions, type Host } from "holdfast";
import { workflow } from "holdfast/workflow";
import { type Asked, act, type Said } from "./features.fixture.ts";

/** What came of a feature. */
interface RunnerCame {
	/** Inputs that were shown, in order. */
	readonly shown: readonly unknown[];
	/** Inputs that the tool was called with, in order. */
	readonly ran: readonly unknown[];
	/** How each turn ended: `completed`, or the code of its error. */
	readonly ended: readonly string[];
}

export interface RunnerFeature {
	readonly name: string;
	readonly place: "a runner" | "the strategy of a runner" | "a runner as a sub-agent";
	readonly turns: number;
	/** Anew for each deployment; tools write what they were called with into `ran`. */
	agent(ran: unknown[], host: Host): RunnerAgent | Agent;
	say?(asked: Asked): Said;
	/** What came of it, or the code of a refusal. */
	readonly expected: RunnerCame | string;
}

export const use = (n: unknown): RunnerStep => ({ type: "tool", toolId: "act", input: { n } });
export const finish: RunnerStep = { type: "finish", message: "done" };

/** Plans these steps in each turn. */
export function planning(...turns: readonly (readonly RunnerStep[])[]) {
	return stepsPlanner(({ task, step }) => turns[Number(/\d+/.exec(task)?.[0] ?? 0)]?.[step - 1] ?? finish);
}

/** A policy that decides over steps with a tool, where they are planned or where their input is looked at. */
export function policy(point: PolicyQuestion["point"], decide: (question: PolicyQuestion) => PolicyDecision) {
	const check = (question: PolicyQuestion): PolicyDecision =>
		question.point === point && question.target !== undefined ? decide(question) : { action: "allow" };
	return { policyEngine: { check } };
}

export const ask: PolicyDecision = { action: "ask", rule: "people" };
export const asks = policy("tool-input", () => ask);
export const block: PolicyDecision = { action: "block", rule: "never" };
export const deny = (): Said => ({ approved: false });
export const nOf = (value: unknown): unknown => (value as { readonly n?: unknown } | undefined)?.n;
export const one = { n: 1 };
export const two = { n: 2 };
export const asked: RunnerCame = { shown: [one], ran: [one], ended: ["completed"] };
export const denied: RunnerCame = { ...asked, ran: [] };
export const unasked: RunnerCame = { ...asked, shown: [] };
export const nothing: RunnerCame = { shown: [], ran: [], ended: ["completed"] };

export const acting = (ran: unknown[], more: Partial<RunnerTool> = {}): RunnerTool => ({
	id: "act",
	run: (input) => {
		ran.push(input);
		return "did";
	},
	...more,
});

function runner(
	ran: unknown[],
	host: Host,
	{ tool = {}, ...more }: Partial<AgentConfig> & { readonly tool?: Partial<RunnerTool> },
): RunnerAgent {
	const base = { id: "clerk", taskPrompt: "Help.", modelProviders: [], planner: planning([use(1)]) };
	return new RunnerAgent({ ...base, tools: [acting(ran, tool)], host, ...more });
}

function strategic(
	host: Host,
	{ planner = planning([use(1)]), ...more }: PlanActReflectOptions,
	agent: Omit<AgentOptions, "model">,
): Agent {
	return new Agent({
		model: scriptedModel([]),
		execution: planActReflect({ planner, ...more }),
		host,
		...agent,
	});
}

type Of = Pick<RunnerFeature, "name" | "expected"> & Partial<Pick<RunnerFeature, "turns" | "say">>;

export const ofRunner = (
	options: Of,
	config: (ran: unknown[]) => Parameters<typeof runner>[2],
): RunnerFeature => ({
	place: "a runner",
	turns: 1,
	...options,
	agent: (ran, host) => runner(ran, host, config(ran)),
});

export const ofStrategy = (
	options: Of,
	config: PlanActReflectOptions,
	agent: (ran: unknown[]) => Omit<AgentOptions, "model"> = (ran) => ({
		tools: [act(ran, { needsApproval: false })],
	}),
): RunnerFeature => ({
	place: "the strategy of a runner",
	turns: 1,
	...options,
	agent: (ran, host) => strategic(host, config, agent(ran)),
});

export const hanging =
	(ran: unknown[]) =>
	(input: unknown): Promise<never> => {
		ran.push(input);
		return new Promise(() => {});
	};

/** A model that calls once, by what it sees, so that it continues in another deployment. */
const delegates = () =>
	scriptedModel(({ messages }): string | ScriptedReply =>
		messages.at(-1)?.type === "tool_result"
			? "done"
			: { toolCalls: [{ name: "delegate_to_clerk", id: "d", arguments: { prompt: "go" } }] },
	);

/** A sub-agent whose model calls the tool once. */
export const actor = (ran: unknown[]): Agent =>
	new Agent({
		name: "one",
		description: "Is one.",
		model: scriptedModel(({ messages }): string | ScriptedReply =>
			messages.at(-1)?.type === "tool_result"
				? "did"
				: { toolCalls: [{ name: "act", id: "c", arguments: one }] },
		),
		tools: [act(ran)],
	});
export const delegation: RunnerStep = { type: "tool", toolId: "delegate_to_one", input: { prompt: "go" } };

export const ofSubagent = (options: Of, config: Parameters<typeof runner>[2]): RunnerFeature => ({
	place: "a runner as a sub-agent",
	turns: 1,
	...options,
	agent(ran, host) {
		const { host: _, ...engine }: AgentOptions = { ...runner(ran, host, config).engine };
		const clerk = new Agent({ ...engine, name: "clerk", description: "Helps." });
		return new Agent({ model: delegates(), subagents: [clerk], host });
	},
});

/** A workflow with the name of the actor, which acts once it is allowed to. */
export const approvedWorkflow = (ran: unknown[]): Agent =>
	workflow({ name: "one" }, async (flow) => {
		if (!(await flow.approve("act", one))) return "denied";
		return flow.step("act", () => void ran.push(one), { retryPolicy: "idempotent" });
	}).agent;

/** A runner that a workflow asks. */
export const belowWorkflow = (options: Of, config: Parameters<typeof runner>[2]): RunnerFeature => ({
	place: "a runner as a sub-agent",
	turns: 1,
	...options,
	agent(ran, host) {
		const { host: _, ...engine }: AgentOptions = { ...runner(ran, host, config).engine };
		const clerk = new Agent({ ...engine, name: "clerk", description: "Helps." });
		return workflow({ name: "asks", subagents: [clerk], host }, (flow) => flow.agent(clerk, "go")).agent;
	},
});

/** Is busy at first, and answers then. */
export const busyClient = (replies: readonly string[]): LLMClient => {
	const left = [...replies];
	return {
		async call() {
			const text = left.shift() ?? "busy";
			if (text === "busy") throw Object.assign(new Error("Busy."), { code: "RATE_LIMITED", retryable: true });
			return { text };
		},
	};
};
export const planned = (step: RunnerStep): string => JSON.stringify(step);
