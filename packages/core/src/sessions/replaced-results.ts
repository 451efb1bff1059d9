// Passes outside results through the hooks that may replace results before they are recorded, as for results of tools.
import type { Run } from "../engine/index.ts";
import type { Fact } from "../facts/index.ts";
import type { DrivenStages } from "../policy/index.ts";

/**
 * Returns these facts as the hooks leave them. `within` calls the hooks inside the scope of the code that waits for them.
 */
export async function replacedResults(
	run: Run,
	facts: readonly Fact[],
	within: (hooks: () => Promise<readonly Fact[]>) => Promise<readonly Fact[]>,
): Promise<readonly Fact[]> {
	const { toolResult } = run.interceptors;
	if (toolResult === undefined || facts.length === 0) return facts;
	return within(() => replaced(run, facts, toolResult));
}

function replaced(
	run: Run,
	facts: readonly Fact[],
	toolResult: NonNullable<DrivenStages["toolResult"]>,
): Promise<readonly Fact[]> {
	return Promise.all(
		facts.map(async (fact) => {
			if (fact.kind !== "tool.settled") return fact;
			const { callId: toolCallId, outcome, result: output } = fact;
			const call = run.state.run?.calls.withId(toolCallId)?.call;
			const status = outcome === "done" || outcome === "cancelled" ? outcome : "error";
			const { toolName = "", arguments: input } = call ?? {};
			const given = await toolResult({ toolCallId, toolName, input, status, output });
			const { details: _, ...rest } = fact;
			const kept = given.output === output ? fact : { ...rest, result: given.output };
			return given.status === status ? kept : { ...kept, outcome: given.status };
		}),
	);
}
