// The rules of one agent, made of its configuration.
import type { Clock, Ids } from "holdfast";
import type { Redactor, RuntimeFlags, SafetyConfig, SafetyLayer, ToolDefinition } from "../contract/index.ts";

/** What the layer is made with. */
export interface SafetyParts {
	readonly agentId: string;
	readonly config: SafetyConfig;
	readonly flags: Required<RuntimeFlags>;
	readonly enableTools: readonly string[];
	/** A registered tool. */
	tool(id: string): ToolDefinition | undefined;
	readonly redactor: Redactor;
	readonly clock: Clock;
	readonly ids: Ids;
}

export function createSafety(_parts: SafetyParts): SafetyLayer {
	return {
		interceptor: { name: "safety", begin: () => undefined },
		allows: () => true,
		checkAttempt: () => undefined,
		checkPrompt: (messages) => messages,
		checkWrite: (_point, _target, value) => ({ value }),
		checkPermission: () => undefined,
	};
}
