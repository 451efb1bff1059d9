// Converts a planning answer to an executable plan: validated, cut to a length, in an order that respects dependencies.
// Pure.
import { HoldfastError, type JSONSchema } from "@holdfast/upp";
import type { PlanStep } from "../state/index.ts";

/** The default schema of a plan. */
export const defaultPlanSchema: JSONSchema = {
	type: "object",
	properties: {
		steps: {
			type: "array",
			items: {
				type: "object",
				properties: {
					id: { type: "string", description: "Short and unique within the plan." },
					description: { type: "string", description: "What this step does." },
					tool: { type: "string", description: "The tool it uses, if it uses one." },
					dependsOn: {
						type: "array",
						items: { type: "string" },
						description: "Ids of the steps that must be completed first.",
					},
				},
				required: ["id", "description"],
			},
		},
	},
	required: ["steps"],
};

/** The options for reading a planning answer. */
export interface ReadPlanOptions {
	/** The maximum number of new steps. */
	readonly maxSteps: number;
	/** Names of the tools that steps may use; none if they are unknown. */
	readonly tools: readonly string[];
	/** Completed steps of an earlier plan: they are kept, unless they are planned again. */
	readonly completed: readonly PlanStep[];
}

/**
 * Reads the answer to a planning request, parsed or as text: `{steps}` or a bare list. New steps follow the completed
 * ones and may depend on them.
 * @throws HoldfastError `plan_invalid` if it is not a plan, ids repeat, a tool is unknown, or a dependency is unknown or
 * circular.
 */
export function readPlan(data: unknown, text: string, options: ReadPlanOptions): readonly PlanStep[] {
	const given = data ?? parsed(text);
	const list = Array.isArray(given) ? given : (given as { steps?: unknown } | undefined)?.steps;
	if (!Array.isArray(list)) throw invalid("it has no list of steps");
	const steps = list.map(readStep);
	const byId = new Map<string, PlanStep>();
	for (const step of steps) {
		if (byId.has(step.id)) throw invalid(`the id "${step.id}" is used twice`);
		byId.set(step.id, step);
		checkTool(step, options.tools);
	}
	const kept = options.completed.filter((step) => !byId.has(step.id));
	for (const step of kept) byId.set(step.id, step);
	for (const step of steps) {
		const unknown = step.dependsOn.find((id) => !byId.has(id));
		if (unknown !== undefined)
			throw invalid(`step "${step.id}" depends on "${unknown}", which is not in the plan`);
	}
	return [...kept, ...inOrder(steps, kept).slice(0, options.maxSteps)];
}

function checkTool({ id, tool }: PlanStep, tools: readonly string[]): void {
	if (tool === undefined || tools.length === 0 || tools.includes(tool)) return;
	throw invalid(`step "${id}" names the tool "${tool}", and the tools are: ${tools.join(", ")}`);
}

/**
 * Returns the steps in an order in which each follows its dependencies. Among those that are ready, the first in the list
 * is next.
 */
function inOrder(steps: readonly PlanStep[], before: readonly PlanStep[]): readonly PlanStep[] {
	const done = new Set(before.map((step) => step.id));
	const waiting = steps.map(({ dependsOn }) => new Set(dependsOn.filter((id) => !done.has(id))));
	const following = new Map<string, number[]>();
	for (const [at, ids] of waiting.entries()) {
		for (const id of ids) {
			const others = following.get(id);
			if (others === undefined) following.set(id, [at]);
			else others.push(at);
		}
	}
	const order = new Set<PlanStep>();
	const ready = new Lowest();
	for (const at of steps.keys()) if (waiting[at]?.size === 0) ready.add(at);
	for (let at = ready.take(); at !== undefined; at = ready.take()) {
		const step = steps[at] as PlanStep;
		order.add(step);
		for (const other of following.get(step.id) ?? []) {
			waiting[other]?.delete(step.id);
			if (waiting[other]?.size === 0) ready.add(other);
		}
	}
	if (order.size === steps.length) return [...order];
	const stuck = steps.filter((step) => !order.has(step)).map((step) => step.id);
	const shown =
		stuck.length > 20 ? `${stuck.slice(0, 20).join(", ")} and ${stuck.length - 20} more` : stuck.join(", ");
	throw invalid(`these steps wait for each other: ${shown}`);
}

/** A priority queue of numbers that removes the lowest: a binary heap. */
class Lowest {
	readonly #numbers: number[] = [];

	add(number: number): void {
		const numbers = this.#numbers;
		let at = numbers.length;
		while (at > 0) {
			const above = (at - 1) >> 1;
			if ((numbers[above] as number) <= number) break;
			numbers[at] = numbers[above] as number;
			at = above;
		}
		numbers[at] = number;
	}

	take(): number | undefined {
		const numbers = this.#numbers;
		const lowest = numbers[0];
		const last = numbers.pop();
		if (last === undefined || numbers.length === 0) return lowest;
		let at = 0;
		for (;;) {
			let below = 2 * at + 1;
			if (below >= numbers.length) break;
			if (below + 1 < numbers.length && (numbers[below + 1] as number) < (numbers[below] as number)) below++;
			if ((numbers[below] as number) >= last) break;
			numbers[at] = numbers[below] as number;
			at = below;
		}
		numbers[at] = last;
		return lowest;
	}
}

function readStep(value: unknown, at: number): PlanStep {
	const step = value as { id?: unknown; description?: unknown; tool?: unknown; dependsOn?: unknown } | null;
	if (typeof step !== "object" || step === null) throw invalid(`steps[${at}] is not an object`);
	const { id, description, tool } = step;
	const dependsOn = step.dependsOn ?? [];
	if (typeof id !== "string" || id === "") throw invalid(`steps[${at}].id is not a non-empty string`);
	if (typeof description !== "string") throw invalid(`steps[${at}].description is not a string`);
	if (tool !== undefined && tool !== null && typeof tool !== "string")
		throw invalid(`steps[${at}].tool is not a string`);
	if (!Array.isArray(dependsOn) || !dependsOn.every((each) => typeof each === "string")) {
		throw invalid(`steps[${at}].dependsOn is not a list of ids`);
	}
	return {
		id,
		description,
		...(typeof tool === "string" && tool !== "" ? { tool } : {}),
		dependsOn,
		status: "pending",
	};
}

/** Returns the plan in an answer, which may be the whole text, in a fence, or between sentences. */
function parsed(text: string): unknown {
	let other: unknown;
	for (const candidate of candidates(text)) {
		let found: unknown;
		try {
			found = JSON.parse(candidate);
		} catch {
			continue;
		}
		if (isLikePlan(found)) return found;
		other ??= found;
	}
	if (typeof other === "object" && other !== null) return other;
	throw invalid("it is not JSON");
}

/** A remark in brackets may also parse. */
function isLikePlan(found: unknown): boolean {
	const steps = Array.isArray(found) ? found : (found as { steps?: unknown } | null)?.steps;
	return Array.isArray(steps) && (steps.length === 0 || typeof steps[0] === "object");
}

function* candidates(text: string): Generator<string> {
	yield text;
	for (const [, fenced = ""] of text.matchAll(/```(?:\w+)?[^\S\n]*\n([\s\S]*?)```/g))
		if (/[{[]/.test(fenced)) yield fenced;
	yield* bracketed(text);
	// Brackets that are opened in a sentence and never closed hide those after them.
	yield text.slice(text.indexOf("{"), text.lastIndexOf("}") + 1);
	yield text.slice(text.indexOf("["), text.lastIndexOf("]") + 1);
}

/** Yields the outermost brackets of a text, in one pass. Brackets in JSON strings do not count. */
function* bracketed(text: string): Generator<string> {
	let start = -1;
	let depth = 0;
	for (let at = 0; at < text.length; at++) {
		const character = text[at];
		if (depth > 0 && character === '"') at = endOfString(text, at);
		else if (character === "{" || character === "[") {
			if (depth++ === 0) start = at;
		} else if (depth > 0 && (character === "}" || character === "]")) {
			if (--depth === 0) yield text.slice(start, at + 1);
		}
	}
}

function endOfString(text: string, start: number): number {
	for (let at = start + 1; at < text.length; at++) {
		if (text[at] === "\\") at++;
		else if (text[at] === '"') return at;
	}
	return text.length;
}

function invalid(why: string): HoldfastError {
	return new HoldfastError("plan_invalid", `The model's plan cannot be carried out: ${why}.`);
}
