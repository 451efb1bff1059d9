// Checks that several definitions share.
import { invalidDefinition, type Subject } from "./invalid-definition.ts";

/** Whether a value is an object with members, and not an array. */
export function isRecord(value: unknown): value is Record<string, unknown> {
	return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Returns the options of a definition, which must be an object. */
export function checkIsObject(
	subject: Subject,
	options: unknown,
): asserts options is Record<string, unknown> {
	if (!isRecord(options)) throw invalidDefinition(subject, "options", "must be an object");
}

/** Names of `agent()` and `tool()` that a definition has in another form: the field that replaces each, and a sentence. */
const elsewhere: Readonly<Record<string, readonly [field: string, sentence: string]>> = {
	instructions: ["sideA", "the text belongs in the prompt that the agent names in `sideA`"],
	system: ["sideA", "the text belongs in the prompt that the agent names in `sideA`"],
	model: ["sideA", "the prompt that the agent names in `sideA` names the model"],
	tools: ["sideA", "the prompt that the agent names in `sideA` lists its tools"],
	parameters: ["args", "write `args`"],
	inputSchema: ["args", "write `args`"],
	run: ["execute", "write `execute`"],
	name: ["execute", "the tool has the name of its file"],
};

/** Refuses names that a definition does not have: a misspelt option would have no effect, and nothing would report it. */
export function checkNames(
	subject: Subject,
	options: Readonly<Record<string, unknown>>,
	known: readonly string[],
	place = "",
): void {
	for (const name of Object.keys(options)) {
		if (known.includes(name)) continue;
		const instead =
			name === "needsApproval" || name === "approval"
				? "is unknown: threads cannot request approval. Remove it, or do not offer the tool"
				: `is unknown${sentenceFor(name, known)}`;
		throw invalidDefinition(subject, `${place}${name}`, instead);
	}
}

function sentenceFor(name: string, known: readonly string[]): string {
	const [field, sentence] = (Object.hasOwn(elsewhere, name) && elsewhere[name]) || [];
	return field !== undefined && known.includes(field) ? `: ${sentence}` : `; known are ${known.join(", ")}`;
}

/** A required string. */
export function checkText(subject: Subject, field: string, value: unknown): asserts value is string {
	if (value === undefined || value === null || value === "")
		throw invalidDefinition(subject, field, "is missing or empty");
	if (typeof value !== "string") throw invalidDefinition(subject, field, "must be a string");
}

/** A required name. With a slash it would look like the name of an item of a package. */
export function checkName(subject: Subject, value: unknown): asserts value is string {
	checkText(subject, "name", value);
	if (/[/:]/.test(value)) throw invalidDefinition(subject, "name", "must not contain a slash or a colon");
}

/** An optional whole number above 0. */
export function checkCount(subject: Subject, field: string, value: unknown): void {
	if (value !== undefined && !(Number.isSafeInteger(value) && (value as number) > 0))
		throw invalidDefinition(subject, field, "must be a positive integer");
}

const kinds = { text: "a string", flag: "true or false", object: "an object" } as const;

/** Optional values of one kind. */
export function checkKind<Name extends string>(
	subject: Subject,
	options: { readonly [Field in Name]?: unknown },
	kind: keyof typeof kinds,
	fields: readonly Name[],
): void {
	for (const field of fields) {
		const value = options[field];
		const isRight =
			kind === "object" ? isRecord(value) : typeof value === (kind === "flag" ? "boolean" : "string");
		if (value !== undefined && !isRight) throw invalidDefinition(subject, field, `must be ${kinds[kind]}`);
	}
}

/** An optional choice. */
export function checkChoice(
	subject: Subject,
	field: string,
	value: unknown,
	choices: readonly string[],
): void {
	if (value !== undefined && !choices.includes(value as string))
		throw invalidDefinition(subject, field, `must be one of ${choices.join(", ")}`);
}

/** A function. */
export function checkFunction(subject: Subject, field: string, value: unknown): void {
	if (typeof value !== "function") throw invalidDefinition(subject, field, "must be a function");
}

/** An optional list of strings. */
export function checkTexts(subject: Subject, field: string, value: unknown): void {
	if (value === undefined) return;
	if (!Array.isArray(value) || value.some((text) => typeof text !== "string" || text === ""))
		throw invalidDefinition(subject, field, "must be a list of names");
}

/** Optional strings by name. */
export function checkTextsByName(subject: Subject, field: string, value: unknown): void {
	if (value === undefined) return;
	if (!isRecord(value)) throw invalidDefinition(subject, field, "must be an object of strings");
	for (const [name, text] of Object.entries(value)) {
		if (typeof text !== "string") throw invalidDefinition(subject, `${field}.${name}`, "must be a string");
	}
}

/** Optional definitions of environment values. */
export function checkVariables(subject: Subject, value: unknown): void {
	if (value === undefined) return;
	if (!Array.isArray(value)) throw invalidDefinition(subject, "variables", "must be a list");
	for (const [at, variable] of value.entries()) {
		const field = `variables[${at}]`;
		if (!isRecord(variable)) throw invalidDefinition(subject, field, "must be an object");
		checkText(subject, `${field}.name`, variable.name);
		checkChoice(subject, `${field}.type`, variable.type ?? "", ["text", "secret"]);
	}
}
