// The input of a tool: the JSON Schema its model sees and the validation of its arguments, from any schema form: JSON
// Schema, a Standard Schema, or an AI SDK `jsonSchema()` object.

import { HoldfastError, isThenable, type JSONSchema } from "@holdfast/upp";
import {
	compileSchema,
	formatIssues,
	type Issue,
	isStandardSchema,
	type StandardOutcome,
	type StandardSchema,
	toJsonSchema,
	validateStandard,
} from "../schema/index.ts";
import type { AnyTool, ValidatedInput } from "./types.ts";

/** Where `tool()` keeps the validating schema: a symbol, so that a tool's JSON omits it. */
export const validatingSchema: unique symbol = Symbol.for("holdfast.validatingSchema") as never;

/** The input of a tool. */
export interface ToolInput {
	readonly parameters: JSONSchema;
	validate(input: unknown): ValidatedInput | Promise<ValidatedInput>;
}

interface AiSdkSchema {
	readonly jsonSchema: JSONSchema;
	validate?(value: unknown): AiSdkResult | PromiseLike<AiSdkResult>;
}

type AiSdkResult = { success: true; value: unknown } | { success: false; error: Error };

const NO_PARAMETERS: JSONSchema = { type: "object", properties: {} };

/** Returns the schema that validates a tool's arguments, in its original form. */
function givenSchema(tool: AnyTool): unknown {
	return (tool as { [validatingSchema]?: unknown })[validatingSchema] ?? tool.inputSchema ?? tool.parameters;
}

/**
 * Reads the input of a tool.
 *
 * @throws HoldfastError `invalid_schema`, `schema_not_convertible` or `invalid_tool`.
 */
export function readToolInput(tool: AnyTool, name: string): ToolInput {
	const given = resolveLazily(refuseBareEffect(givenSchema(tool), name));
	if (given === undefined || given === null) return jsonSchemaInput(NO_PARAMETERS, name);
	if (isStandardSchema(given)) {
		const { parameters } = tool;
		const beside = isStandardSchema(parameters) ? parameters : given;
		const shown = isJsonSchema(parameters) ? parameters : toJsonSchema(beside);
		return standardInput(given, shown, name);
	}
	if (typeof given !== "object") {
		throw new HoldfastError(
			"invalid_tool",
			`The tool "${name}" has parameters of type ${typeof given}. Give it JSON Schema or a Standard Schema such as zod's.`,
		);
	}
	if (isAiSdkSchema(given, name)) return aiSdkInput(given, name);
	refuseProperties(given, name);
	const shown = isJsonSchema(tool.parameters) ? tool.parameters : (given as JSONSchema);
	return jsonSchemaInput(given as JSONSchema, name, shown);
}

function jsonSchemaInput(schema: JSONSchema, name: string, parameters: JSONSchema = schema): ToolInput {
	const issuesOf = compileSchema(schema);
	return {
		parameters,
		validate(input) {
			const issues = issuesOf(input);
			return issues.length === 0 ? { ok: true, value: input } : refused(name, issues);
		},
	};
}

function standardInput(schema: StandardSchema, parameters: JSONSchema, name: string): ToolInput {
	const outcome = (result: StandardOutcome): ValidatedInput =>
		result.ok ? result : refused(name, result.issues);
	return {
		parameters,
		validate: (input) => guarded(name, () => validateStandard(schema, input), outcome),
	};
}

function aiSdkInput(schema: AiSdkSchema, name: string): ToolInput {
	const plain = jsonSchemaInput(schema.jsonSchema, name);
	if (typeof schema.validate !== "function") return plain;
	const outcome = (result: AiSdkResult): ValidatedInput =>
		result.success
			? { ok: true, value: result.value }
			: refused(name, [{ path: "", message: result.error.message }]);
	return {
		parameters: schema.jsonSchema,
		validate: (input) => guarded(name, () => schema.validate?.(input) as AiSdkResult, outcome),
	};
}

// If the tool author's validation throws, the call is refused; the run does not fail.
function guarded<Result>(
	name: string,
	check: () => Result | PromiseLike<Result>,
	outcome: (result: Result) => ValidatedInput,
): ValidatedInput | Promise<ValidatedInput> {
	const failed = (error: unknown): ValidatedInput =>
		refused(name, [{ path: "", message: `the schema's own check failed: ${String(error)}` }]);
	try {
		const result = check();
		if (!isThenable(result)) return outcome(result);
		return Promise.resolve(result).then(outcome, failed);
	} catch (error) {
		return failed(error);
	}
}

function refused(name: string, issues: readonly Issue[]): ValidatedInput {
	const message = `Invalid arguments for "${name}":\n${formatIssues(issues)}\nCorrect them and call it again.`;
	return { ok: false, message, issues };
}

/** Properties without an enclosing schema would be read as unknown keywords, and any input would pass. */
function refuseProperties(given: object, name: string): void {
	const members = Object.entries(given);
	if (
		members.length === 0 ||
		members.some(([keyword]) => keywords.has(keyword) || /^(?:\$|x-)/.test(keyword))
	)
		return;
	const around = members.some(([, member]) => isStandardSchema(member))
		? "Wrap them in an object of their library, such as `z.object({...})`."
		: 'Write `{ type: "object", properties: {...} }`.';
	throw new HoldfastError(
		"invalid_schema",
		`The tool "${name}" has properties as its schema: ${members
			.map(([each]) => each)
			.slice(0, 5)
			.join(", ")}. ${around}`,
	);
}

/** JSON Schema keywords. A schema has at least one of them. */
const keywords: ReadonlySet<string> = new Set(
	"type properties required additionalProperties patternProperties propertyNames items prefixItems enum const anyOf oneOf allOf not if then else title description default examples definitions format pattern minimum maximum minLength maxLength minItems maxItems minProperties maxProperties dependentRequired dependentSchemas unevaluatedProperties nullable deprecated readOnly".split(
		" ",
	),
);

/** A schema of Effect is a class, so it would be called as if it were a schema factory. */
function refuseBareEffect(schema: unknown, name: string): unknown {
	const isBare = typeof schema === "function" && "ast" in schema && !isStandardSchema(schema);
	if (!isBare) return schema;
	throw new HoldfastError(
		"schema_not_convertible",
		`The tool "${name}" has a bare effect schema. Wrap it: \`Schema.toStandardJSONSchemaV1(Schema.toStandardSchemaV1(schema))\`, from effect 4 on.`,
	);
}

// In the AI SDK, a schema may be a function that returns it.
function resolveLazily(schema: unknown): unknown {
	return typeof schema === "function" && !isStandardSchema(schema) ? schema() : schema;
}

function isJsonSchema(schema: unknown): schema is JSONSchema {
	return (
		typeof schema === "object" && schema !== null && !isStandardSchema(schema) && !("jsonSchema" in schema)
	);
}

function isAiSdkSchema(schema: object, name: string): schema is AiSdkSchema {
	if (!("jsonSchema" in schema)) return false;
	if (!isThenable(schema.jsonSchema)) return true;
	throw new HoldfastError(
		"invalid_tool",
		`The tool "${name}" has a JSON Schema that is a promise. Await it before the tool is made.`,
	);
}
