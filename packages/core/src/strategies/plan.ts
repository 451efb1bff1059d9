// plan(): makes a plan with dependencies, runs its steps in order, and makes a new plan if one fails. The position of the
// run is read from the plan in the state, so a crash loses nothing. Steps are in an order that respects their
// dependencies and run from the front: all before the first open one are completed.
import { checkOptions, cutText, HoldfastError, type JSONSchema, optionNames } from "@holdfast/upp";
import type { Action, Decider, ModelAction, Situation } from "../engine/index.ts";
import type { PlanStep, PlanStepChange } from "../state/index.ts";
import type { DecidingStrategy } from "./execution-strategy.ts";
import { planPrompt, replanPrompt, stepPrompt } from "./plan-prompts.ts";
import { readLimit } from "./read-limit.ts";
import { defaultPlanSchema, readPlan } from "./read-plan.ts";
import { strategy } from "./strategy.ts";

/** Options of `plan()`. */
export interface PlanOptions {
	/** The maximum number of steps of a plan, from 1, chosen in dependency order. Default: no limit. */
	readonly maxPlanSteps?: number;
	/** Whether a failed step leads to a new plan. Default true; if false, the run fails. */
	readonly allowReplan?: boolean;
	/** Schema of the plan. Default: a list of steps with id, description, tool and dependsOn. */
	readonly planSchema?: JSONSchema;
}

const planNames = optionNames<PlanOptions>({ maxPlanSteps: true, allowReplan: "flag", planSchema: "object" });

/**
 * Plan, then execute: the model makes a structured plan, and each step runs once its dependencies are completed.
 *
 * A step fails if its model call fails; if the last call to the tool it names failed; or, if it names none or never
 * called it, if it called tools and none of the calls succeeded. Then a new plan is requested, which keeps completed
 * steps. The run fails with `plan_invalid` for an impossible plan, and with `plan_step_failed`.
 *
 * @throws HoldfastError `invalid_option` for a limit that is not an integer of at least 1.
 */
export function plan(options: PlanOptions = {}): DecidingStrategy {
	checkOptions(options, planNames, {
		of: "plan()",
		instead: {
			maxSteps: "`maxPlanSteps` limits the steps of a plan; `maxSteps` of the agent limits those of a run.",
		},
	});
	return strategy(planner(options));
}

function planner(options: PlanOptions): Decider {
	const { allowReplan = true } = options;
	const maxSteps = readLimit(options.maxPlanSteps, "maxPlanSteps");
	const structure = options.planSchema ?? defaultPlanSchema;

	const planning = (prompt: string): ModelAction => ({
		kind: "model",
		tag: "plan",
		step: "same",
		prompt,
		structure,
		tools: "withheld",
		afterwards: "continues",
	});

	const planned = ({ state, step, answer, tools }: Situation): Action => {
		// Before the first step, the plan in the state is from an earlier call.
		const completed = step === 0 ? [] : completedOf(state.plan);
		try {
			const text = answer?.message.text ?? "";
			const names = tools.map((tool) => tool.name);
			const value = readPlan(answer?.data, text, { maxSteps, completed, tools: names });
			return { kind: "note", topic: "plan", value };
		} catch (error) {
			return { kind: "finish", error };
		}
	};

	const next = (situation: Situation): Action => {
		const { state, tools } = situation;
		const steps = state.plan ?? [];
		const at = openAt(steps);
		const open = steps[at];
		switch (open?.status) {
			case undefined:
			case "completed":
				return { kind: "finish" };
			case "pending":
				return changed({ id: open.id, at, status: "in_progress" }, "continues");
			case "in_progress":
				return carryOut(open, "next");
			case "failed":
				return allowReplan
					? planning(replanPrompt(tools, completedOf(steps), open))
					: { kind: "finish", error: stepFailed(situation, open) };
		}
	};

	return {
		name: "plan",
		decide(situation): Action {
			const { last, state, step, tools } = situation;
			const at = openAt(state.plan);
			const open = step === 0 ? undefined : state.plan?.[at];
			const current = open?.status === "in_progress" ? open : undefined;
			switch (last.kind) {
				case "input":
					// A message between two steps may change the plan; a message within a step goes to that step.
					if (last.tag !== "turn" && current !== undefined) return carryOut(current, "same");
					return planning(planPrompt(tools, step === 0 ? [] : completedOf(state.plan)));
				case "assistant":
					if (last.tag === "plan") return planned(situation);
					if (current === undefined) return { kind: "finish" };
					return changed({ id: current.id, at, status: outcomeOf(situation, current) }, "ends-step");
				case "results":
					return current === undefined ? { kind: "finish" } : carryOut(current, "same");
				case "note":
					if (last.tag !== "model-failed" || current === undefined) return next(situation);
					return changed({ id: current.id, at, status: "failed" }, "ends-step");
				default:
					return { kind: "finish" };
			}
		},
	};
}

function carryOut(step: PlanStep, which: ModelAction["step"]): ModelAction {
	const prompt = stepPrompt(step);
	return { kind: "model", tag: "act", step: which, prompt, afterwards: "continues", failure: "decides" };
}

function changed(value: PlanStepChange, afterwards: "continues" | "ends-step"): Action {
	return { kind: "note", topic: "plan-step", value, afterwards };
}

/**
 * Returns the index of the first open step, found by bisection, so that a long plan costs hardly more than a short one.
 */
function openAt(steps: readonly PlanStep[] = []): number {
	let low = 0;
	let high = steps.length;
	while (low < high) {
		const middle = (low + high) >> 1;
		if (steps[middle]?.status === "completed") low = middle + 1;
		else high = middle;
	}
	return low;
}

function completedOf(steps: readonly PlanStep[] = []): readonly PlanStep[] {
	return steps.filter((step) => step.status === "completed");
}

function outcomeOf({ executions }: Situation, step: PlanStep): "completed" | "failed" {
	const all = executions();
	const named = all.findLast((each) => each.toolName === step.tool);
	const failed = named?.isError ?? (all.length > 0 && all.every((each) => each.isError));
	return failed ? "failed" : "completed";
}

function stepFailed({ executions }: Situation, { id, description }: PlanStep): HoldfastError {
	const failed = executions().findLast((each) => each.isError);
	const why = failed === undefined ? "" : ` The tool "${failed.toolName}" said: ${sentence(failed.result)}`;
	return new HoldfastError(
		"plan_step_failed",
		`Step "${id}" of the plan failed: ${sentence(description)}${why} Steps that depend on it did not run.`,
		{ data: { id } },
	);
}

/** Returns a text as a sentence, shortened if it is long. */
function sentence(given: unknown): string {
	const text = (typeof given === "string" ? given : JSON.stringify(given)).trim();
	if (text.length > 500) return `${cutText(text, 500)}\u2026`;
	return /[.!?\u2026]$/.test(text) ? text : `${text}.`;
}
