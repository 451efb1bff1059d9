// Validates a template once: one that could not be stored or found again is refused.
import { cutText, HoldfastError } from "@holdfast/upp";
import type { PromptTemplate } from "../contract/index.ts";
import { isPromptEngine } from "./engines.ts";

/** A template as the caller provides it. */
export type GivenTemplate = Omit<PromptTemplate, "version" | "createdAt">;

const maximalIdLength = 200;

/** Returns a copy that shares nothing with the given value. @throws PROMPT_INVALID */
export function readTemplate(given: GivenTemplate, author: string | undefined): GivenTemplate {
	if (typeof given !== "object" || given === null) throw invalidPrompt("?", ["a template must be an object"]);
	const { id, name, text, requiredVars, engine, metadata } = given;
	const createdBy = author ?? given.createdBy;
	const problems: string[] = [];
	const expect = (isRight: boolean, problem: string): void => void (isRight || problems.push(problem));
	const isText = (value: unknown): boolean => value === undefined || typeof value === "string";
	expect(
		typeof id === "string" && id !== "" && id.length <= maximalIdLength,
		`\`id\` must be a string of 1 to ${maximalIdLength} characters`,
	);
	expect(typeof text === "string", "`text` must be a string");
	expect(isText(name), "`name` must be a string");
	expect(isText(createdBy), "the author must be a string");
	expect(engine === undefined || isPromptEngine(engine), `there is no engine ${String(engine)}`);
	expect(
		requiredVars === undefined ||
			(Array.isArray(requiredVars) && requiredVars.every((each) => typeof each === "string")),
		"`requiredVars` must be a list of strings",
	);
	const kept = plainCopy(metadata);
	expect(
		metadata === undefined || (typeof kept === "object" && kept !== null && !Array.isArray(kept)),
		"`metadata` must be a JSON object",
	);
	if (problems.length > 0) throw invalidPrompt(String(id), problems);
	return {
		id,
		...(name === undefined ? {} : { name }),
		text,
		...(requiredVars === undefined ? {} : { requiredVars: [...requiredVars] }),
		...(engine === undefined ? {} : { engine }),
		...(kept === undefined ? {} : { metadata: kept as Record<string, unknown> }),
		...(createdBy === undefined ? {} : { createdBy }),
	};
}

function plainCopy(value: unknown): unknown {
	try {
		return value === undefined ? undefined : JSON.parse(JSON.stringify(value));
	} catch {
		return null;
	}
}

export function invalidPrompt(id: string, problems: readonly string[], cause?: unknown): HoldfastError {
	const shown = problems.slice(0, 10).join("; ");
	return new HoldfastError(
		"PROMPT_INVALID",
		`The template ${JSON.stringify(cutText(id, maximalIdLength))} cannot be used: ${shown}.`,
		{ data: { errors: problems }, ...(cause === undefined ? {} : { cause }) },
	);
}

/** Freezes the object and returns it. */
export function frozen<Value>(value: Value): Value {
	if (typeof value !== "object" || value === null) return value;
	for (const each of Object.values(value)) frozen(each);
	return Object.freeze(value);
}
