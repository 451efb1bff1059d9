// Options shared by the turns of all threads of a project.
import type { AgentOptions } from "holdfast";
import type { TurnOptions } from "holdfast/execute";
import type { MiddlewareEntry } from "holdfast/middleware";
import { threadStrategy } from "./decider.ts";
import { engineTools } from "./engine-tools.ts";
import type { ProjectIndex } from "./project-index.ts";
import { beginThread, reportToParent } from "./session-bounds.ts";
import type { ThreadSystem } from "./system.ts";
import { threadModel } from "./thread-model.ts";
import type { ThreadsOptions } from "./threads-options.ts";

/**
 * The answers of a project's providers have their limits where they are asked. A model call with limits has a signal of its
 * own, but the model of threads finds its thread by the signal of the run.
 */
const asItIs = { silenceMs: Number.POSITIVE_INFINITY, maxAnswerCharacters: Number.POSITIVE_INFINITY };

/** Returns the options of the one agent behind all threads, independent of the project. */
export function agentOf(
	{ host, middleware = [], plugins, namespace, keepDeltasMs, modelWait, ports }: ThreadsOptions,
	policy: MiddlewareEntry,
): AgentOptions {
	return {
		host,
		name: "threads",
		middleware: [policy, ...middleware],
		maxSteps: Number.POSITIVE_INFINITY,
		config: asItIs,
		...(plugins === undefined ? {} : { plugins }),
		...(namespace === undefined ? {} : { namespace }),
		...(keepDeltasMs === undefined ? {} : { keepDeltasMs }),
		...(modelWait === undefined ? {} : { modelWait }),
		...(ports === undefined ? {} : { ports }),
	};
}

/** Returns the model, tools and decider of a project. */
export function turnOf(system: ThreadSystem, index: ProjectIndex, stepCap: number): TurnOptions {
	// Problems of a project that replaced the given one: its valid parts are used.
	for (const message of index.mcpProblems())
		system.log({ threadId: "", level: "error", topic: "mcp", message });
	return {
		model: threadModel(system),
		tools: engineTools(system, index),
		execution: threadStrategy({
			agent: (name) => index.agent(name),
			flowAfter: (flow, entry) => index.flowAfter(flow, entry),
			stepCap,
			begin: (context) => beginThread(system, context),
			report: (context) => reportToParent(system, context),
		}),
	};
}
