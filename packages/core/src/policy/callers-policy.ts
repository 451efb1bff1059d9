// The part of a caller's policy that also holds for a sub-agent working under it: decisions about calls, replacements of results,
// and the admission of what is recorded. Stages that concern the caller's own conversation are left out.
import type { AgentPolicy } from "./agent-policy.ts";
import type { Stages } from "./interceptor.ts";
import type { NamedStages } from "./join-stages.ts";

/** Key of the caller's policy in the options of a call. */
export const callersPolicy: unique symbol = Symbol("callersPolicy");

/** Gives access to the policy of the run that made a call. */
export interface HasCallersPolicy {
	/** Undefined if the run has no policy. */
	callersPolicy(): AgentPolicy | undefined;
}

const held = ["toolCall", "toolResult", "admit", "committed"] as const;

/** Returns the stages that hold for a sub-agent too. */
export function heldBelow({ name, stages, ...rest }: NamedStages): NamedStages {
	const kept: Record<string, unknown> = {};
	for (const stage of held) {
		const call = stages[stage];
		if (call !== undefined) kept[stage] = call.bind(stages);
	}
	const { admits, deltas, waits } = stages;
	const about = {
		...(admits === undefined ? {} : { admits }),
		...(deltas === undefined ? {} : { deltas }),
		...(waits === undefined ? {} : { waits }),
	};
	return { ...rest, name, stages: { ...kept, ...about } as Stages };
}
