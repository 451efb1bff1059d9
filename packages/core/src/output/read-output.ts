// The option `output`, read once on entry: the schema that the model sees, and the validation of its answers. Models
// expect an object at the root, so any other schema is shown as the member `value` of one.
import { after, HoldfastError, HoldfastTypeError, type JSONSchema } from "@holdfast/upp";
import type { EngineOutput } from "../engine/index.ts";
import type { AssistantSaid, OutputVerdict } from "../facts/index.ts";
import { isStandardSchema } from "../schema/index.ts";
import { readToolInput, type ToolInput, type ValidatedInput } from "../tools/index.ts";
import { mustBeStorable, readAnswer } from "./read-answer.ts";

/** The default number of repair attempts for an invalid answer. */
const defaultRepairs = 2;

/** The data derived from a schema, independent of its agents. */
interface Form extends ToolInput {
	/** The schema that the model sees. */
	readonly structure: JSONSchema;
	readonly isWrapped: boolean;
}

const forms = new WeakMap<object, Form>();

/**
 * Reads the options `output` and `outputRepairs`. Returns undefined if there is no output.
 * @throws HoldfastError `invalid_option` naming the option; `invalid_schema`, `schema_not_convertible`,
 * `conflicting_options`.
 */
export function readOutput(options: {
	readonly output?: unknown;
	readonly outputRepairs?: unknown;
	readonly structure?: unknown;
}): EngineOutput | undefined {
	const { output, outputRepairs: repairs = defaultRepairs } = options;
	if (!Number.isSafeInteger(repairs) || (repairs as number) < 0)
		throw new HoldfastTypeError(
			"invalid_option",
			"The option `outputRepairs` must be a whole number from 0.",
		);
	if (output === undefined) return undefined;
	if (options.structure !== undefined) {
		throw new HoldfastError(
			"conflicting_options",
			"Both `output` and `structure` are given. `output` checks the answer and retries; `structure` only requests the form. Give one.",
		);
	}
	const form = formOf(output);
	return { structure: form.structure, repairs: repairs as number, check: (answer) => check(form, answer) };
}

function formOf(output: unknown): Form {
	if (
		(typeof output !== "object" && typeof output !== "function") ||
		output === null ||
		Array.isArray(output)
	)
		throw new HoldfastTypeError(
			"invalid_option",
			"The option `output` must be a schema: a Standard Schema such as zod's, or JSON Schema.",
		);
	const known = forms.get(output);
	if (known !== undefined) return known;
	const isReady = typeof output === "object" || isStandardSchema(output);
	if (!isReady)
		throw new HoldfastTypeError(
			"invalid_option",
			"The option `output` is a function. If it makes a schema, call it.",
		);
	const read = readToolInput({ name: "output", inputSchema: output }, "output");
	const isWrapped = !isObject(read.parameters);
	const form: Form = {
		...read,
		isWrapped,
		structure: isWrapped ? wrapped(read.parameters) : read.parameters,
	};
	forms.set(output, form);
	return form;
}

function isObject({ type, properties }: JSONSchema): boolean {
	return type === "object" || (type === undefined && properties !== undefined);
}

const place = "#/properties/value";

function wrapped(schema: JSONSchema): JSONSchema {
	const value = moved(schema);
	const { title, description } = schema;
	return {
		...(title === undefined ? {} : { title }),
		...(description === undefined ? {} : { description }),
		type: "object",
		properties: { value },
		required: ["value"],
		additionalProperties: false,
	};
}

/** Moves the schema to a member, and adjusts its references, which start at the root. */
function moved(schema: JSONSchema): JSONSchema {
	try {
		const json = JSON.stringify(schema, (key, member) =>
			key === "$ref" && typeof member === "string" && member.startsWith("#")
				? place + member.slice(1)
				: member,
		);
		return JSON.parse(json) as JSONSchema;
	} catch (cause) {
		throw new HoldfastError(
			"invalid_schema",
			"The schema in `output` cannot be shown to a model: it is not plain JSON.",
			{ cause },
		);
	}
}

function check(form: Form, answer: AssistantSaid): OutputVerdict | Promise<OutputVerdict> {
	const read = readAnswer(answer);
	if (!read.ok) return read;
	const given = form.isWrapped ? unwrapped(read.value) : read.value;
	const validated = form.validate(given);
	return after(validated, (outcome) => verdictOf(outcome, answer));
}

/** If a model ignores the wrapping, its answer is accepted without it. */
function unwrapped(value: unknown): unknown {
	if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
	const keys = Object.keys(value);
	return keys.length === 1 && keys[0] === "value" ? (value as { value: unknown }).value : value;
}

function verdictOf(outcome: ValidatedInput, { data }: AssistantSaid): OutputVerdict {
	if (!outcome.ok) return { ok: false, issues: outcome.issues };
	const { value } = outcome;
	if (value === data && data !== undefined) return { ok: true };
	mustBeStorable(value);
	return { ok: true, value };
}
