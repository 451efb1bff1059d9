// Validates a planner's return value and converts it to plain data.
import { HoldfastError } from "@holdfast/upp";
import { plainOf, type RunnerStep } from "../contract/index.ts";

const types: ReadonlySet<string> = new Set(["tool", "message", "finish", "internal"]);

/**
 * Returns a step in its recorded form: a copy of the fields that belong to its type.
 * @throws HoldfastError `PLAN_INVALID`.
 */
export function readStep(given: unknown, storeReasoning: boolean): RunnerStep {
	if (typeof given !== "object" || given === null || Array.isArray(given))
		throw invalid("it is not an object");
	const { type, toolId, input, message, reason } = given as Record<string, unknown>;
	if (typeof type !== "string" || !types.has(type))
		throw invalid(`its type is ${JSON.stringify(type) ?? String(type)}, not one of ${[...types].join(", ")}`);
	if (type === "tool" && (typeof toolId !== "string" || toolId === ""))
		throw invalid("it is of the type tool and has no `toolId`");
	if (message !== undefined && typeof message !== "string") throw invalid("its `message` is not a string");
	return {
		type: type as RunnerStep["type"],
		...(type === "tool" ? { toolId: toolId as string } : {}),
		...(input === undefined ? {} : { input: plain(input) }),
		...(message === undefined ? {} : { message }),
		...(storeReasoning && typeof reason === "string" ? { reason } : {}),
	};
}

/** Returns a copy that the journal can store. */
function plain(input: unknown): unknown {
	const copy = plainOf(input);
	if (!copy.ok) throw invalid(`its \`input\` is not plain data: ${copy.why}`);
	return copy.value;
}

export function invalid(why: string): HoldfastError {
	return new HoldfastError("PLAN_INVALID", `The planner returned no valid step: ${why}.`);
}
