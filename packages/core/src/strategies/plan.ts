// plan(): first a plan with dependencies, then its steps in order, and a new plan where one fails.
// Where the run stands is read from the plan in the state: a crash loses nothing of it.
import { HoldfastError, type JSONSchema } from "@holdfast/upp";
import type { Action, ModelAction, Situation } from "../engine/index.ts";
import type { PlanStep } from "../state/index.ts";
import type { DecidingStrategy } from "./execution-strategy.ts";
import { defaultPlanSchema, readPlan } from "./read-plan.ts";
import { strategy } from "./strategy.ts";

export interface PlanOptions {
	/** Steps of a plan at most, chosen in dependency order. Default: no limit. */
	readonly maxPlanSteps?: number;
	/** Whether a failed step leads to a new plan. Default true; else the run fails. */
	readonly allowReplan?: boolean;
	/** Schema of the plan. Default: a list of steps with id, description, tool and dependsOn. */
	readonly planSchema?: JSONSchema;
}

/**
 * Plan, then execute: the model makes a structured plan, each step is carried out when what it depends on is completed.
 *
 * A step fails when its model call fails, or when the tool it names fails and the model leaves it at that. The run
 * fails with `plan_invalid` for a plan that cannot be carried out, and with `plan_step_failed`.
 *
 * @see UAP 5.4
 */
export function plan(options: PlanOptions = {}): DecidingStrategy {
	const limit = options.maxPlanSteps ?? Number.POSITIVE_INFINITY;
	const structure = options.planSchema ?? defaultPlanSchema;
	const planning = (prompt: string): ModelAction => ({
		kind: "model",
		tag: "plan",
		step: "same",
		prompt,
		structure,
		tools: "withheld",
		afterwards: "goes-on",
	});
	return strategy({
		name: "plan",
		decide(situation): Action {
			const { last, state, answer } = situation;
			const steps = state.plan ?? [];
			const current = steps.find((step) => step.status === "in_progress");
			switch (last.kind) {
				case "input":
					// What is said between two steps may change the plan; within one it goes to that step.
					return last.tag !== "turn" && current !== undefined ? goOn(current, "same") : planning(planPrompt);
				case "assistant":
					if (last.tag === "plan")
						return made(() => readPlan(answer?.data, answer?.message.text ?? "", limit));
					if (current === undefined) return { kind: "finish" };
					return settled(steps, current, outcomeOf(situation, current));
				case "results":
					return current === undefined ? { kind: "finish" } : goOn(current, "same");
				case "note":
					if (last.tag === "model-failed" && current !== undefined) return settled(steps, current, "failed");
					return next(steps, current, options.allowReplan ?? true, planning);
				default:
					return { kind: "finish" };
			}
		},
	});
}

const planPrompt =
	"Make a plan for this task: the steps it takes, each with a short unique id, what it does, the tool it uses if it uses one, and the ids of the steps it depends on.";

function made(read: () => readonly PlanStep[]): Action {
	try {
		return { kind: "note", topic: "plan", value: read() };
	} catch (error) {
		return { kind: "finish", error };
	}
}

/** What comes after the plan has changed. */
function next(
	steps: readonly PlanStep[],
	current: PlanStep | undefined,
	allowReplan: boolean,
	planning: (prompt: string) => ModelAction,
): Action {
	if (current !== undefined) return goOn(current, "next");
	const failed = steps.find((step) => step.status === "failed");
	if (failed !== undefined) {
		if (allowReplan) return planning(replanPrompt(steps, failed));
		const message = `Step "${failed.id}" of the plan failed: ${failed.description}. What depends on it was not run.`;
		return {
			kind: "finish",
			error: new HoldfastError("plan_step_failed", message, { data: { id: failed.id } }),
		};
	}
	const completed = new Set(steps.filter((step) => step.status === "completed").map((step) => step.id));
	const ready = steps.find(
		(step) => step.status === "pending" && step.dependsOn.every((id) => completed.has(id)),
	);
	return ready === undefined ? { kind: "finish" } : changed(steps, ready, "in_progress", "goes-on");
}

function goOn(step: PlanStep, which: ModelAction["step"]): ModelAction {
	const tool = step.tool === undefined ? "" : ` Use the tool "${step.tool}".`;
	const prompt = `Carry out step "${step.id}" of the plan: ${step.description}${tool} Say what came of it when it is done.`;
	return { kind: "model", tag: "act", step: which, prompt, afterwards: "goes-on", failure: "decides" };
}

function settled(steps: readonly PlanStep[], step: PlanStep, status: "completed" | "failed"): Action {
	return changed(steps, step, status, "ends-step");
}

function changed(
	steps: readonly PlanStep[],
	step: PlanStep,
	status: PlanStep["status"],
	afterwards: "goes-on" | "ends-step",
): Action {
	const value = steps.map((each) => (each === step ? { ...each, status } : each));
	return { kind: "note", topic: "plan", value, afterwards };
}

/** A step whose named tool failed the last time it was called has failed. */
function outcomeOf({ executions }: Situation, step: PlanStep): "completed" | "failed" {
	if (step.tool === undefined) return "completed";
	const last = executions().findLast((each) => each.toolName === step.tool);
	return last?.isError === true ? "failed" : "completed";
}

function replanPrompt(steps: readonly PlanStep[], failed: PlanStep): string {
	const done = steps.filter((step) => step.status === "completed").map((step) => `"${step.id}"`);
	const kept = done.length === 0 ? "" : ` Completed so far: ${done.join(", ")}; do not plan them again.`;
	return `Step "${failed.id}" (${failed.description}) failed.${kept} Make a new plan for what is left of the task.`;
}
