// Standard Schema (zod, valibot, arktype, …), typed structurally so that core depends on none of them. Recognises one,
// validates with it, and obtains the JSON Schema shown to a model.

import { after, HoldfastError, type JSONSchema, messageOf } from "@holdfast/upp";
import { formatPath, type Issue } from "./issue.ts";
import { isZod3, zod3ToJsonSchema } from "./zod-3.ts";

/** A schema of any library that follows Standard Schema v1. @see https://standardschema.dev */
export interface StandardSchema<Input = unknown, Output = Input> {
	readonly "~standard": {
		readonly version: 1;
		readonly vendor: string;
		readonly validate: (value: unknown) => StandardResult<Output> | Promise<StandardResult<Output>>;
		readonly types?: { readonly input: Input; readonly output: Output } | undefined;
	};
}

/** The result of a Standard Schema for a value. */
export type StandardResult<Output> =
	| { readonly value: Output; readonly issues?: undefined }
	| { readonly issues: readonly StandardIssue[] };

/** An issue as Standard Schema libraries report it. */
export interface StandardIssue {
	readonly message: string;
	readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

/** Whether a value is a Standard Schema; some libraries' schemas are functions. */
export function isStandardSchema(value: unknown): value is StandardSchema {
	if ((typeof value !== "object" && typeof value !== "function") || value === null) return false;
	const standard = (value as { "~standard"?: unknown })["~standard"];
	return (
		typeof standard === "object" &&
		standard !== null &&
		typeof (standard as { validate?: unknown }).validate === "function"
	);
}

/** The valid value, with the schema's defaults and conversions applied, or the issues. */
export type StandardOutcome =
	| { readonly ok: true; readonly value: unknown }
	| { readonly ok: false; readonly issues: readonly Issue[] };

/** Validates with a Standard Schema. Returns a promise only if the library returns one. */
export function validateStandard(
	schema: StandardSchema,
	value: unknown,
): StandardOutcome | Promise<StandardOutcome> {
	const result = schema["~standard"].validate(value);
	return after(result, outcomeOf);
}

/**
 * Returns the JSON Schema of the input a Standard Schema accepts: from the Standard JSON Schema extension, otherwise
 * from a `toJSONSchema` method. Schemas of zod 3, which has neither, are converted here.
 *
 * @throws HoldfastError `schema_not_convertible` if the library offers neither, or cannot represent this schema.
 */
export function toJsonSchema(schema: StandardSchema): JSONSchema {
	const known = converted.get(schema);
	if (known !== undefined) return known;
	const { $schema: _, ...result } = convert(schema);
	converted.set(schema, result);
	return result;
}

const converted = new WeakMap<StandardSchema, JSONSchema>();

interface Convertible {
	readonly "~standard": { readonly jsonSchema?: { input?(options: { target: string }): JSONSchema } };
	toJSONSchema?(options: { io: "input" }): JSONSchema;
}

function convert(schema: StandardSchema): JSONSchema {
	const convertible = schema as StandardSchema & Convertible;
	const extension = convertible["~standard"].jsonSchema;
	try {
		if (typeof extension?.input === "function") return extension.input({ target: "draft-2020-12" });
		if (typeof convertible.toJSONSchema === "function") return convertible.toJSONSchema({ io: "input" });
		if (isZod3(schema)) return zod3ToJsonSchema(schema);
	} catch (cause) {
		const why = messageOf(cause);
		throw notConvertible(schema, `cannot be converted to JSON Schema (${why})`, cause);
	}
	throw notConvertible(schema, "has no conversion to JSON Schema");
}

/** How to convert a library's schemas into ones that provide JSON Schema. */
const recipes: Readonly<Record<string, string>> = {
	valibot: "Wrap it: `toStandardJsonSchema(schema)` from @valibot/to-json-schema.",
	effect: "Wrap it: `Schema.toStandardJSONSchemaV1(Schema.toStandardSchemaV1(schema))`, from effect 4 on.",
	arktype: "Upgrade arktype to 2.1.28 or later.",
	zod: "Use `z` from zod 4.2 or later; with zod/mini, give `z.toJSONSchema(schema)` as `parameters` and the schema as `inputSchema`.",
};

function notConvertible(schema: StandardSchema, what: string, cause?: unknown): HoldfastError {
	const { vendor } = schema["~standard"];
	const recipe =
		cause === undefined && Object.hasOwn(recipes, vendor) ? `${recipes[vendor]} Or pass it as` : "Pass it as";
	return new HoldfastError(
		"schema_not_convertible",
		`This ${nameOf(schema)} schema ${what}. ${recipe} \`inputSchema\` and JSON Schema as \`parameters\`: ` +
			"the first validates, the second is shown to the model.",
		{ data: { vendor }, ...(cause === undefined ? {} : { cause }) },
	);
}

/** Returns the name of the library, with the version if its schemas contain it. */
function nameOf(schema: StandardSchema): string {
	const { vendor } = schema["~standard"];
	const { version } = (schema as { _zod?: { version?: Record<string, unknown> } })._zod ?? {};
	if (version !== undefined) return `${vendor} ${version.major}.${version.minor}.${version.patch}`;
	return isZod3(schema) ? "zod 3" : vendor;
}

function outcomeOf(result: StandardResult<unknown>): StandardOutcome {
	if (result.issues === undefined) return { ok: true, value: result.value };
	return { ok: false, issues: result.issues.map(issueOf) };
}

function issueOf({ message, path = [] }: StandardIssue): Issue {
	const segments = path.map((segment) => (typeof segment === "object" ? segment.key : segment));
	return { path: formatPath(segments), message };
}
