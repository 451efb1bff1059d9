// The loop as a strategy for any agent: its tools, its sessions, its policy.
import { checkOptions, optionNames } from "@holdfast/upp";
import type { DecidingStrategy } from "holdfast/execution";
import type { AgentConfig, RunnerStep } from "../contract/index.ts";
import { type LoopParts, modelPlanner, planActReflectLoop } from "../loop/index.ts";
import { LiveRuns } from "./live-runs.ts";
import { invalid } from "./read-config.ts";
import { resolveConfig } from "./resolved-agent.ts";

const planActReflectNames = optionNames<PlanActReflectOptions>({
	planner: true,
	reflector: true,
	goalMet: true,
	maxSteps: true,
	modelProviders: true,
	score: "function",
	modelTimeoutMs: true,
	maxPlanRepairs: "number",
	storeReasoning: "flag",
	promptStore: "object",
	safety: "object",
	eventBus: "object",
	eventStore: "object",
	onStepStart: "function",
	onModelTokens: "function",
	onError: "function",
});

/** Options of `planActReflect()`. */
export type PlanActReflectOptions = Partial<
	Pick<
		AgentConfig,
		| "planner"
		| "reflector"
		| "goalMet"
		| "maxSteps"
		| "modelProviders"
		| "score"
		| "modelTimeoutMs"
		| "maxPlanRepairs"
		| "storeReasoning"
		| "promptStore"
		| "safety"
		| "eventBus"
		| "eventStore"
		| "onStepStart"
		| "onModelTokens"
		| "onError"
	>
>;

/**
 * Plans, acts and reflects with the tools of its agent. The user's message is the task. Planning calls the given planner,
 * or a model of `modelProviders`; every answer is recorded before it is used. The rules of `safety` are checked before
 * each plan is committed, and their audit records share its append; pass `auditSink` to receive those of prompts, too.
 * The tools decide whether a person is asked: if a policy engine decides `ask`, the step is blocked.
 *
 * @throws HoldfastError `CONFIG_INVALID` without a planner and without providers.
 * @example
 * ```ts
 * import { agent, tool } from "holdfast";
 * import { planActReflect, stepsPlanner } from "@holdfast/runner";
 * import { scriptedModel } from "@holdfast/testing";
 *
 * const add = tool({ name: "add", description: "Adds.", parameters: { type: "object", properties: {} }, run: () => 3 });
 * const execution = planActReflect({
 * 	planner: stepsPlanner(({ lastResult }) =>
 * 		lastResult === undefined
 * 			? { type: "tool", toolId: "add", input: { a: 1, b: 2 } }
 * 			: { type: "finish", input: lastResult.output },
 * 	),
 * });
 * const run = await agent({ model: scriptedModel([]), tools: [add], execution }).session("sum").send("1 + 2?");
 * console.log((await run.result()).text); // 3
 * ```
 */
export function planActReflect(options: PlanActReflectOptions = {}): DecidingStrategy {
	checkOptions(options, planActReflectNames, { of: "planActReflect()" });
	const { modelProviders = [], planner } = options;
	if (planner === undefined && modelProviders.length === 0)
		throw invalid([["modelProviders", "the model planner needs at least one"]]);
	const config = { ...options, id: "strategy", taskPrompt: "task", tools: [], modelProviders };
	// Calls go to the agent's own tools, which alone decide whether they require approval.
	const agent = resolveConfig(config, undefined, { mayAsk: false });
	const live = new LiveRuns(agent);
	const { maxPlanRepairs, goalMet, reflector, maxSteps, storeReasoning, safety } = options;
	const parts: LoopParts = {
		agentId: "strategy",
		planner: planner ?? modelPlanner(maxPlanRepairs === undefined ? {} : { maxPlanRepairs }),
		reflector,
		...(goalMet === undefined ? {} : { goalMet: (state) => goalMet.call(options, state) }),
		maxSteps,
		storeReasoning: storeReasoning === true,
		safetyBudget: safety?.safetyBudget ?? 3,
		remembers: false,
		tools: (known) => known.map(({ name, description }) => ({ id: name, description })),
		callOf(step, _iteration, _ask, known) {
			if (!known.some(({ name }) => name === step.toolId)) return undefined;
			return { toolName: step.toolId as string, arguments: argumentsOf(step) };
		},
		live: (runId, sessionKey) => live.get(runId, sessionKey),
	};
	return planActReflectLoop(parts, [...agent.safety.interceptors, live.interceptor]);
}

function argumentsOf({ input }: RunnerStep): Record<string, unknown> {
	const isObject = typeof input === "object" && input !== null && !Array.isArray(input);
	return isObject ? (input as Record<string, unknown>) : input === undefined ? {} : { input };
}
