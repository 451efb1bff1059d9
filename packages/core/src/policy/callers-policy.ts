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

/** The stages that hold for a sub-agent too. */
const holdsBelow = {
	toolCall: true,
	toolResult: true,
	admit: true,
	admits: true,
	deltas: true,
	committed: true,
	waits: true,
	before: false,
	after: false,
	onError: false,
	turnBefore: false,
	stepBefore: false,
	stepAfter: false,
	stop: false,
	assemble: false,
	modelCall: false,
	continues: false,
} satisfies Record<keyof Stages, boolean>;

/** Returns the stages of a caller that hold for its sub-agent too. */
export function heldBelow(list: readonly NamedStages[]): readonly NamedStages[] {
	return list.filter(({ notBelow }) => notBelow === undefined).map(partBelow);
}

function partBelow({ stages, ...rest }: NamedStages): NamedStages {
	const kept = Object.entries(stages).filter(([name]) => holdsBelow[name as keyof Stages]);
	const bound = kept.map(([name, stage]) => [name, typeof stage === "function" ? stage.bind(stages) : stage]);
	return { ...rest, stages: Object.fromEntries(bound) };
}
