// Agents as the tests configure them.
import type { AgentConfig, RunnerStep, RunnerTool } from "../contract/index.ts";
import { stepsPlanner } from "../loop/index.ts";
import { RunnerAgent } from "./agent.ts";

/** Gives what it gets. */
export const echo: RunnerTool = { id: "echo", run: (input) => ({ said: input }) };

/** A promise, and the ways to settle it. */
export function deferred<T = void>(): {
	promise: Promise<T>;
	resolve(value: T): void;
	reject(error: unknown): void;
} {
	return Promise.withResolvers<T>();
}

/** A configuration that carries out these steps. */
export function configured(
	steps: readonly RunnerStep[] | Parameters<typeof stepsPlanner>[0],
	more: Partial<AgentConfig> = {},
): AgentConfig {
	const base = { id: "a", taskPrompt: "Do it.", tools: [echo], modelProviders: [] };
	return { ...base, planner: stepsPlanner(steps), ...more };
}

export function made(...given: Parameters<typeof configured>): RunnerAgent {
	return new RunnerAgent(configured(...given));
}

export const finish: RunnerStep = { type: "finish", message: "done" };

export function use(toolId: string, input?: unknown): RunnerStep {
	return { type: "tool", toolId, ...(input === undefined ? {} : { input }) };
}

/** A tool that waits for its signal, or for ever. */
export function hanging(
	hears: boolean,
): RunnerTool & { readonly signals: AbortSignal[]; readonly begun: Promise<void> } {
	const signals: AbortSignal[] = [];
	const { promise: begun, resolve } = deferred();
	return {
		id: "hang",
		signals,
		begun,
		run: (_, { signal }) => {
			signals.push(signal);
			resolve();
			return new Promise((_done, reject) => {
				if (hears) signal.addEventListener("abort", () => reject(signal.reason));
			});
		},
	};
}
