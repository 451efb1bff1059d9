// The prompts of plan() for the model, each for one call only. Tools are withheld during planning, so they are named
// here.
import type { Situation } from "../engine/index.ts";
import type { PlanStep } from "../state/index.ts";

type Tools = Situation["tools"];

/** Requests a plan. Completed steps of an earlier plan of the same run are kept. */
export function planPrompt(tools: Tools, completed: readonly PlanStep[]): string {
	const what =
		"Make a plan for this task: the steps it needs, each with a short unique id, what it does, the tool it uses if any, and the ids of the steps it depends on.";
	return `${what}${doneSoFar(completed)}${offered(tools)}`;
}

/** Requests a new plan because a step failed. */
export function replanPrompt(tools: Tools, completed: readonly PlanStep[], failed: PlanStep): string {
	const what = `Step "${failed.id}" of the plan failed (${failed.description}).`;
	return `${what}${doneSoFar(completed)} Make a new plan for the rest of the task.${offered(tools)}`;
}

/** Requests one step. */
export function stepPrompt(step: PlanStep): string {
	const tool = step.tool === undefined ? "" : ` Use the tool "${step.tool}".`;
	return `Carry out step "${step.id}" of the plan: ${step.description}${tool} Report the result when it is done.`;
}

function doneSoFar(completed: readonly PlanStep[]): string {
	if (completed.length === 0) return "";
	const ids = completed.map((step) => `"${step.id}"`).join(", ");
	return ` Completed so far: ${ids}; do not plan them again, new steps may depend on them.`;
}

function offered(tools: Tools): string {
	if (tools.length === 0) return "";
	return `\n\nTools that steps may use:\n${tools.map(({ name, description }) => `- ${name}: ${description}`).join("\n")}`;
}
