// Plans as the tests of strategies write them.

import type { ScriptedReply } from "@holdfast/testing";
import type { PlanStep } from "../state/plan-step.ts";

/** A model's answer with a plan of these steps; missing fields are filled in. */
export function planOf(...steps: (Partial<PlanStep> & { id: string })[]): ScriptedReply {
	const full = steps.map((step) => ({ description: `Do ${step.id}.`, dependsOn: [], ...step }));
	return { text: JSON.stringify({ steps: full }), data: { steps: full } };
}

/** A summary of a plan: `a: completed`, … */
export function statuses(plan: readonly PlanStep[] | undefined): string[] {
	return (plan ?? []).map(({ id, status }) => `${id}: ${status}`);
}
