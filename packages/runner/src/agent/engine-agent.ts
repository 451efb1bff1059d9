// The underlying agent of the engine: the loop as its strategy, the tools as recorded calls, the rules in its policy
// list.

import type { LanguageModel } from "@holdfast/upp";
import { HoldfastError } from "@holdfast/upp";
import { type Agent as EngineAgent, agent as engineAgent } from "holdfast";
import { executorTool } from "../contract/index.ts";
import { type LoopParts, modelPlanner, planActReflectLoop } from "../loop/index.ts";
import { engineTools } from "./engine-tools.ts";
import type { LiveRuns } from "./live-runs.ts";
import type { ResolvedAgent } from "./resolved-agent.ts";

/** Creates the engine's agent. Registering a tool creates a new one over the same host. */
export function makeEngineAgent(agent: ResolvedAgent, live: LiveRuns): EngineAgent {
	const { config, host, ports, safety } = agent;
	return engineAgent({
		model: noModel,
		tools: engineTools(agent, live),
		execution: planActReflectLoop(loopParts(agent, live), [...safety.interceptors, live.interceptor]),
		host,
		ports,
		// Iterations have their own limit, which is read here, so the engine need not warn about a missing one.
		...(config.maxSteps === undefined ? {} : { maxSteps: Number.POSITIVE_INFINITY }),
	});
}

function loopParts(agent: ResolvedAgent, live: LiveRuns): LoopParts {
	const { config, tools, safety } = agent;
	const { maxPlanRepairs, goalMet } = config;
	const allowed = tools.list().filter(({ id }) => safety.allows(id));
	const shown = allowed.map(({ id, description, schema }) => ({
		id,
		...(description === undefined ? {} : { description }),
		...(schema === undefined ? {} : { schema }),
	}));
	return {
		agentId: config.id,
		task: config.taskPrompt,
		planner: config.planner ?? modelPlanner(maxPlanRepairs === undefined ? {} : { maxPlanRepairs }),
		reflector: config.reflector,
		...(goalMet === undefined ? {} : { goalMet: (state) => goalMet.call(config, state) }),
		maxSteps: config.maxSteps,
		storeReasoning: config.storeReasoning === true,
		safetyBudget: config.safety?.safetyBudget ?? 3,
		remembers: config.memoryClient === undefined ? "with-run" : "by-call",
		tools: () => shown,
		callOf(step, iteration, ask) {
			const toolId = step.toolId as string;
			const isRegistered = tools.get(toolId) !== undefined;
			if (!isRegistered && config.toolExecutor === undefined) return undefined;
			const given = { step, iteration, ...(ask === undefined ? {} : { ask }) };
			return { toolName: isRegistered ? toolId : executorTool, arguments: given };
		},
		live: (runId, sessionKey) => live.get(runId, sessionKey),
	};
}

/** The loop calls models through the agent's providers; the engine itself calls none. */
const noModel = {
	specificationVersion: "v2",
	provider: "holdfast",
	modelId: "providers",
	supportedUrls: {},
	doGenerate: () => Promise.reject(unused()),
	doStream: () => Promise.reject(unused()),
} as unknown as LanguageModel;

function unused(): HoldfastError {
	return new HoldfastError("MODEL_FAILED", "This agent calls models through its providers.");
}
