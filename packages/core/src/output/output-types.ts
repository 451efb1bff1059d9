// The type of a structured answer, inferred from the schema in `output`.

/** The accepted forms of `output`: a Standard Schema (zod, valibot, …), `jsonSchema()` of the AI SDK, or JSON Schema. */
export type OutputSchema =
	| { readonly "~standard": object }
	| { readonly jsonSchema: unknown }
	| { readonly type?: unknown; readonly [keyword: string]: unknown };

/** The type of the answers that match a schema. For JSON Schema, it is inferred only from a literal. */
export type OutputOf<Schema> = unknown extends Schema
	? unknown
	: Schema extends {
				readonly "~standard": { readonly types?: { readonly output: infer Output } | undefined };
			}
		? Output
		: Schema extends { readonly _type: infer Type }
			? Type
			: ValueOf<Schema>;

interface Primitives {
	readonly string: string;
	readonly number: number;
	readonly integer: number;
	readonly boolean: boolean;
	readonly null: null;
	readonly object: Record<string, unknown>;
	readonly array: unknown[];
}

/** The type of a JSON Schema's values, inferred from the common keywords. */
type ValueOf<Schema> = Schema extends { readonly const: infer Only }
	? Only
	: Schema extends { readonly enum: readonly (infer Choice)[] }
		? Choice
		: Schema extends { readonly anyOf: readonly (infer Form)[] } | { readonly oneOf: readonly (infer Form)[] }
			? ValueOf<Form>
			: Schema extends { readonly type: "array"; readonly items: infer Item }
				? ValueOf<Item>[]
				: Schema extends { readonly type: "object"; readonly properties: infer Members }
					? ObjectOf<Members, Schema extends { readonly required: readonly (infer Name)[] } ? Name : never>
					: Schema extends { readonly type: infer Type extends keyof Primitives }
						? Primitives[Type]
						: Schema extends { readonly type: readonly (infer Type extends keyof Primitives)[] }
							? Primitives[Type]
							: unknown;

type ObjectOf<Members, Required> = {
	[Name in keyof Members as Name extends Required ? Name : never]: ValueOf<Members[Name]>;
} & {
	[Name in keyof Members as Name extends Required ? never : Name]?: ValueOf<Members[Name]>;
};
