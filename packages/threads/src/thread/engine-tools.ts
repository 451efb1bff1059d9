// Declares all callables of a project as tools of the engine: which one a call refers to is resolved when the call runs.
import type { AnyTool, ToolContext } from "holdfast";
import { executeCall } from "./execute-call.ts";
import type { ProjectIndex } from "./project-index.ts";
import type { ThreadSystem } from "./system.ts";

const anyArguments = { type: "object", properties: {}, additionalProperties: true };

/** Creates the tools. Calls run one at a time, in the order in which the model made them. */
export function engineTools(system: ThreadSystem, index: ProjectIndex): readonly AnyTool[] {
	return [...index.callNames()].map(([name, retryPolicy]) => ({
		name,
		description: name,
		parameters: anyArguments,
		sequential: true,
		retryPolicy,
		run(args: Record<string, unknown>, context: ToolContext) {
			const live = system.live(context.sessionKey ?? "");
			if (live === undefined) return { status: "error", error: "The thread has no active execution." };
			return executeCall(system, live, name, args, context);
		},
	}));
}
