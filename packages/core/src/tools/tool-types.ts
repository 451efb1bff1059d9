// The types of tools: their names, inputs and outputs, as events and other processes see them.

/** The type of a value after a JSON round trip: dates become strings, and members that JSON omits are missing. */
export type Plain<Value> = unknown extends Value
	? Value
	: Value extends string | number | boolean | null
		? Value
		: Value extends { toJSON(): infer Written }
			? Plain<Written>
			: Value extends Uint8Array | bigint
				? string
				: Value extends undefined | symbol | ((...parameters: never) => unknown)
					? never
					: Value extends ReadonlySet<infer Member>
						? Plain<Member>[]
						: Value extends object
							? { [Name in keyof Value]: Plain<Value[Name]> }
							: Value;

/** The output type of a schema: a Standard Schema, or one of the AI SDK's `jsonSchema()`. */
type LetThrough<Schema> = Schema extends {
	readonly "~standard": { readonly types?: { readonly output: infer Output } | undefined };
}
	? Output
	: Schema extends { readonly _type: infer Type }
		? Type
		: unknown;

// biome-ignore lint/suspicious/noExplicitAny: matches any further parameters
type Rest = any[];

type Parameters<Tool> = Tool extends { run(parameters: infer Given, ...rest: Rest): unknown }
	? Given
	: Tool extends { readonly inputSchema: infer Schema }
		? Tool extends { readonly execute: (input: infer Given, ...rest: Rest) => unknown }
			? Given
			: LetThrough<Schema>
		: Tool extends { execute(id: string, parameters: infer Given, ...rest: Rest): unknown }
			? Given
			: Tool extends { readonly parameters: infer Schema }
				? LetThrough<Schema>
				: unknown;

type Returned<Tool> = Tool extends { run(...parameters: Rest): infer Result }
	? Awaited<Result>
	: Tool extends { readonly execute: (...parameters: Rest) => infer Result }
		? Awaited<Result>
		: unknown;

/** The result of an iterable: its `complete` value, or its pieces of text joined. */
type Drained<Piece> = [Extract<Piece, { readonly type: "complete" }>] extends [never]
	? [Piece] extends [string]
		? string
		: unknown
	: Extract<Piece, { readonly type: "complete" }> extends { readonly output: infer Output }
		? Output
		: unknown;

type Result<Value> =
	Value extends AsyncIterable<infer Piece>
		? Drained<Piece>
		: Value extends { readonly output: infer Output extends string; readonly details: unknown }
			? Exclude<keyof Value, "output" | "details"> extends never
				? Output
				: Value
			: Value extends void
				? ""
				: Value;

/** The input type of a tool in events: after its schema has applied defaults, as JSON. */
export type InferToolInput<Tool> = Plain<Parameters<Tool>>;

/** The output type of a tool in events and for the model: as JSON. `unknown` if its type is unknown. */
export type InferToolOutput<Tool> = Plain<Result<Returned<Tool>>>;

/** A tool with the types that the compiler knows. */
export interface KnownTool {
	/** Its name. */
	readonly name: string;
	/** The type of its input. */
	readonly input: unknown;
	/** The type of its output. */
	readonly output: unknown;
}

/** A tool of a list or record, with the types inferred from its declaration. */
interface Known<Name, Tool> {
	/** Its name. */
	readonly name: Name;
	/** The type of its input. */
	readonly input: InferToolInput<Tool>;
	/** The type of its output. */
	readonly output: InferToolOutput<Tool>;
}

type KnownByName<Tool> = Tool extends { readonly name: infer Name extends string }
	? Known<Name, Tool>
	: KnownTool;

/** The tools of a list or record, each with the types that the compiler knows. */
export type KnownTools<Tools> = unknown extends Tools
	? KnownTool
	: Tools extends readonly (infer Tool)[]
		? KnownByName<Tool>
		: { [Name in keyof Tools & string]: Known<Name, Tools[Name]> }[keyof Tools & string];
