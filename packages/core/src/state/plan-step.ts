// The steps of a plan, in a state and as JSON.
import { frozenCopy } from "./frozen-copy.ts";
import { invalidState, readId, readList, readOptional, readRecord, readString } from "./read-json.ts";

/** The status of a step of a plan. */
export type PlanStepStatus = "pending" | "in_progress" | "completed" | "failed";

/** One step of a plan. */
export interface PlanStep {
	/** Unique within the plan. */
	readonly id: string;
	/** The work of the step. */
	readonly description: string;
	/** The tool to use, if the plan names one. */
	readonly tool?: string;
	/** Ids of the steps that must be completed before this one. */
	readonly dependsOn: readonly string[];
	/** Its progress. */
	readonly status: PlanStepStatus;
}

/** A plan in progress. */
export interface ExecutionPlan {
	/** The steps, in order. */
	readonly steps: readonly PlanStep[];
	/** Index of the current step. */
	readonly currentStepIndex: number;
}

const statuses: readonly unknown[] = ["pending", "in_progress", "completed", "failed"];

/**
 * Returns a frozen copy of a plan. A step without `dependsOn` has no dependencies.
 * @throws HoldfastError `invalid_state` with the path to the fault.
 */
export function readPlan(plan: unknown, path = "plan"): readonly PlanStep[] {
	return Object.freeze(readList(plan, path, readPlanStep));
}

/** A change of one step. */
export interface PlanStepChange {
	readonly id: string;
	/** Its position in the plan. */
	readonly at: number;
	readonly status: PlanStep["status"];
}

/** Returns a plan with the status of one step changed. It shares the other steps with the given plan. */
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
