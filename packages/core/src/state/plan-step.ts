// The steps of a plan, as a state keeps them and as JSON.
import { frozenCopy } from "./frozen-copy.ts";
import { invalidState, readId, readList, readOptional, readRecord, readString } from "./read-json.ts";

/** How far a step of a plan is. */
export type PlanStepStatus = "pending" | "in_progress" | "completed" | "failed";

/** One step of a plan. */
export interface PlanStep {
	readonly id: string;
	readonly description: string;
	readonly tool?: string;
	/** Ids of the steps that must be completed before this one. */
	readonly dependsOn: readonly string[];
	readonly status: PlanStepStatus;
}

/** A plan under way. */
export interface ExecutionPlan {
	readonly steps: readonly PlanStep[];
	/** Index of the step that is carried out. */
	readonly currentStepIndex: number;
}

const statuses: readonly unknown[] = ["pending", "in_progress", "completed", "failed"];

/**
 * A frozen copy of a plan. A step without `dependsOn` depends on nothing.
 * @throws HoldfastError `invalid_state` with the path to the fault.
 */
export function readPlan(plan: unknown, path = "plan"): readonly PlanStep[] {
	return Object.freeze(readList(plan, path, readPlanStep));
}

/** The change of one step. */
export interface PlanStepChange {
	readonly id: string;
	/** Where it is in the plan. */
	readonly at: number;
	readonly status: PlanStep["status"];
}

/** A plan with the status of one step changed; it shares the other steps with the plan given. */
export function withStepStatus(plan: readonly PlanStep[], change: PlanStepChange): readonly PlanStep[] {
	const step = plan[change.at];
	if (step?.id !== change.id) return plan;
	const changed = [...plan];
	changed[change.at] = Object.freeze({ ...step, status: change.status });
	return Object.freeze(changed);
}

function readPlanStep(value: unknown, path: string): PlanStep {
	const step = readRecord(value, path);
	readId(step.id, `${path}.id`);
	readString(step.description, `${path}.description`);
	readOptional(step.tool, `${path}.tool`, readString);
	const dependsOn = readOptional(step.dependsOn, `${path}.dependsOn`, (list, at) =>
		readList(list, at, readString),
	);
	if (!statuses.includes(step.status)) {
		throw invalidState(`${path}.status`, `"pending", "in_progress", "completed" or "failed"`, step.status);
	}
	return frozenCopy({ ...step, dependsOn: dependsOn ?? [] }) as unknown as PlanStep;
}
