// The JSON Schema of a zod 3 schema, which cannot provide it itself: the schema of its input, as zod 4 would return it.
// Features that JSON Schema cannot represent are refused by name.
import { HoldfastError, type JSONSchema } from "@holdfast/upp";

/** The part of a zod 3 schema that is used here. */
interface Definition {
	readonly typeName: string;
	readonly description?: string;
	readonly checks?: readonly {
		readonly kind: string;
		readonly value?: unknown;
		readonly regex?: RegExp;
		readonly inclusive?: boolean;
	}[];
	readonly shape?: () => Readonly<Record<string, Zod3>>;
	readonly unknownKeys?: "passthrough" | "strict" | "strip";
	readonly type?: Zod3;
	readonly valueType?: Zod3;
	readonly innerType?: Zod3;
	readonly schema?: Zod3;
	readonly in?: Zod3;
	readonly left?: Zod3;
	readonly right?: Zod3;
	readonly items?: readonly Zod3[];
	readonly rest?: Zod3 | null;
	readonly options?: readonly Zod3[] | ReadonlyMap<unknown, Zod3>;
	readonly values?: readonly string[] | Readonly<Record<string, string | number>>;
	readonly value?: unknown;
	readonly minLength?: { readonly value: number } | null;
	readonly maxLength?: { readonly value: number } | null;
	readonly exactLength?: { readonly value: number } | null;
	readonly defaultValue?: () => unknown;
}

/** A schema of zod 3. */
export interface Zod3 {
	readonly _def: Definition;
}

/** Whether a schema is one of zod 3. Schemas of zod 4 have a `type` instead. */
export function isZod3(schema: object): schema is Zod3 {
	const { _def: definition } = schema as { _def?: { typeName?: unknown } };
	return typeof definition?.typeName === "string" && definition.typeName.startsWith("Zod");
}

/** @throws HoldfastError `schema_not_convertible` for a kind that JSON Schema cannot represent. */
export function zod3ToJsonSchema({ _def: definition }: Zod3): JSONSchema {
	const { description } = definition;
	const schema = written(definition);
	return description === undefined ? schema : { ...schema, description };
}

function written(definition: Definition): JSONSchema {
	const { typeName } = definition;
	const simple = simply(definition);
	if (simple !== undefined) return simple;
	switch (typeName) {
		case "ZodObject":
			return objectOf(definition);
		case "ZodArray":
			return arrayOf(definition);
		case "ZodSet":
			return { type: "array", uniqueItems: true, items: inner(definition.valueType) };
		case "ZodTuple": {
			const { items = [], rest } = definition;
			return {
				type: "array",
				prefixItems: items.map(inner),
				minItems: items.length,
				items: rest === null || rest === undefined ? false : inner(rest),
			};
		}
		case "ZodRecord":
			return { type: "object", additionalProperties: inner(definition.valueType) };
		case "ZodUnion":
		case "ZodDiscriminatedUnion":
			return { anyOf: [...(definition.options?.values() ?? [])].map(inner) };
		case "ZodIntersection":
			return { allOf: [inner(definition.left), inner(definition.right)] };
		case "ZodNullable":
			return { anyOf: [inner(definition.innerType), { type: "null" }] };
		case "ZodDefault":
			return { ...inner(definition.innerType), default: definition.defaultValue?.() };
		case "ZodEffects":
			return inner(definition.schema);
		case "ZodPipeline":
			return inner(definition.in);
		case "ZodOptional":
		case "ZodReadonly":
		case "ZodCatch":
			return inner(definition.innerType);
		case "ZodBranded":
			return inner(definition.type);
		default:
			throw new HoldfastError(
				"schema_not_convertible",
				`JSON Schema has no ${typeName.replace("Zod", "").toLowerCase()}`,
			);
	}
}

function inner(schema: Zod3 | undefined): JSONSchema {
	return schema === undefined ? {} : zod3ToJsonSchema(schema);
}

function simply(definition: Definition): JSONSchema | undefined {
	const { typeName, values } = definition;
	switch (typeName) {
		case "ZodString":
			return checked({ type: "string" }, definition, "Length");
		case "ZodNumber":
			return checked({ type: "number" }, definition, "imum");
		case "ZodBoolean":
			return { type: "boolean" };
		case "ZodNull":
			return { type: "null" };
		case "ZodAny":
		case "ZodUnknown":
			return {};
		case "ZodLiteral":
			return { const: definition.value };
		case "ZodEnum":
			return { type: "string", enum: [...(values as readonly string[])] };
		case "ZodNativeEnum": {
			// A numeric enum of TypeScript also has its names as values.
			const given = values as Readonly<Record<string, string | number>>;
			const own = Object.keys(given).filter((name) => typeof given[given[name] as string] !== "number");
			return { enum: own.map((name) => given[name]) };
		}
		default:
			return undefined;
	}
}

const formats: Readonly<Record<string, string>> = {
	email: "email",
	url: "uri",
	uuid: "uuid",
	datetime: "date-time",
	date: "date",
	time: "time",
};

function checked(schema: JSONSchema, { checks = [] }: Definition, ending: "Length" | "imum"): JSONSchema {
	const found: Record<string, unknown> = { ...schema };
	for (const { kind, value, regex, inclusive } of checks) {
		if (kind === "int") found.type = "integer";
		else if (kind === "multipleOf") found.multipleOf = value;
		else if (kind === "regex") found.pattern = regex?.source;
		else if (kind === "length") Object.assign(found, { minLength: value, maxLength: value });
		else if (kind === "min" || kind === "max") {
			const name = inclusive === false ? `exclusive${kind === "min" ? "Min" : "Max"}` : kind;
			found[`${name}${ending}`] = value;
		} else if (Object.hasOwn(formats, kind)) found.format = formats[kind];
	}
	return found;
}

function objectOf({ shape, unknownKeys }: Definition): JSONSchema {
	const members = Object.entries(shape?.() ?? {});
	const required = members.filter(([, schema]) => !mayBeLeftOut(schema)).map(([name]) => name);
	return {
		type: "object",
		properties: Object.fromEntries(members.map(([name, schema]) => [name, zod3ToJsonSchema(schema)])),
		...(required.length === 0 ? {} : { required }),
		...(unknownKeys === "strict" ? { additionalProperties: false } : {}),
	};
}

function arrayOf({ type, minLength, maxLength, exactLength }: Definition): JSONSchema {
	const least = exactLength ?? minLength;
	const most = exactLength ?? maxLength;
	return {
		type: "array",
		items: inner(type),
		...(least ? { minItems: least.value } : {}),
		...(most ? { maxItems: most.value } : {}),
	};
}

/** Whether a member of an object may be missing in the input. */
function mayBeLeftOut({ _def: { typeName, innerType, schema } }: Zod3): boolean {
	if (["ZodOptional", "ZodDefault", "ZodCatch", "ZodAny", "ZodUnknown"].includes(typeName)) return true;
	const within = typeName === "ZodEffects" ? schema : innerType;
	return within !== undefined && mayBeLeftOut(within);
}
