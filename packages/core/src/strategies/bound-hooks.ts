// Hooks as standalone functions: they keep their `this`, including those on a prototype.
import type { AgentStrategy } from "../engine/index.ts";

/** The names of all hooks. */
export const hookNames: readonly (keyof AgentStrategy)[] = [
	"stopCondition",
	"onStepStart",
	"onReason",
	"onAct",
	"onObserve",
	"onStepEnd",
	"onComplete",
	"onError",
];

/** Returns the existing hooks, each bound to its object. */
export function boundHooks(given: AgentStrategy): AgentStrategy {
	const bound: Partial<Record<keyof AgentStrategy, unknown>> = {};
	for (const name of hookNames) {
		const hook: unknown = given[name];
		if (typeof hook === "function") bound[name] = hook.bind(given);
	}
	return bound as AgentStrategy;
}
