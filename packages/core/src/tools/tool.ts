// The two own ways to declare a tool: `tool({...})`, and `createSimpleTool`.

import type { JSONSchema } from "@holdfast/upp";
import { readToolInput, validatingSchema } from "./tool-input.ts";
import type { AnyTool, ToolContext, ToolExecutionEvent, ToolOptions } from "./types.ts";

/** The part of a Standard Schema that carries the type of what it lets through. */
export interface TypedSchema<Output> {
	readonly "~standard": {
		readonly types?: { readonly input: unknown; readonly output: Output } | undefined;
	};
}

/** What `tool()` takes. */
export interface ToolDeclaration<Params, Name extends string = string, Result = unknown> extends ToolOptions {
	readonly name: Name;
	/** The display name. */
	readonly label?: string;
	/** Explains to the model when and how to use it. */
	readonly description: string;
	/** JSON Schema, or a Standard Schema (zod, valibot, …), from which the type of `run`'s first parameter comes. */
	readonly parameters?: TypedSchema<Params> | JSONSchema;
	/**
	 * The same under the AI SDK's name. With JSON Schema in `parameters` as well, this one validates and that one is
	 * shown.
	 */
	readonly inputSchema?: TypedSchema<Params> | JSONSchema;
	/** Does the work: returns text or JSON, a promise of it, or an async iterable of deltas. */
	run(params: Params, context: ToolContext): Result;
	/** Whether a call may be run. */
	approval?(params: Params): boolean | Promise<boolean>;
}

/** A tool made by `tool()`: its parameters as JSON Schema. */
export interface DeclaredTool<Params, Name extends string = string, Result = unknown> extends ToolOptions {
	readonly name: Name;
	readonly label?: string;
	readonly description: string;
	readonly parameters: JSONSchema;
	run(params: Params, context?: ToolContext): Result;
	approval?(params: Params): boolean | Promise<boolean>;
}

/**
 * Declares a tool. The type of its arguments comes from a Standard Schema, from the parameter of `run`, or is given:
 * `tool<{ city: string }>({...})`. Where it is not given, events know the tool by its name, with its input and its result.
 *
 * @throws HoldfastError `invalid_schema`, `schema_not_convertible`.
 * @example
 * const weather = tool({
 * 	name: "weather",
 * 	description: "The weather in a city.",
 * 	parameters: z.object({ city: z.string() }),
 * 	run: ({ city }) => `Sunny in ${city}.`,
 * });
 */
export function tool<Params = Record<string, unknown>, const Name extends string = string, Result = unknown>(
	declaration: ToolDeclaration<Params, Name, Result>,
): DeclaredTool<Params, Name, Result> {
	const { inputSchema, parameters, ...rest } = declaration;
	const { parameters: shown } = readToolInput(declaration as AnyTool, declaration.name);
	const validating = inputSchema ?? parameters;
	return {
		...rest,
		parameters: shown,
		...(validating === shown ? {} : { [validatingSchema]: validating }),
	} as DeclaredTool<Params, Name, Result>;
}

/** The result of a tool with `execute` that does not stream. */
export interface ToolOutput {
	readonly output: string;
	readonly details?: unknown;
}

/** The stream of a tool with `execute` that streams. */
export type ToolExecutionEventStream = AsyncIterable<ToolExecutionEvent>;

/** A tool with `execute(id, params, context)`; remote without it. */
// biome-ignore lint/suspicious/noExplicitAny: any parameters are the default
export interface AgentTool<Params = any> extends ToolOptions {
	readonly name: string;
	readonly label?: string;
	readonly description?: string;
	/** JSON Schema or a Standard Schema. */
	readonly parameters: JSONSchema | TypedSchema<unknown>;
	execute?(
		id: string,
		params: Params,
		context?: ToolContext,
	): ToolExecutionEventStream | Promise<ToolOutput> | ToolOutput;
}

/** A tool that `createSimpleTool` makes. */
export interface SimpleTool<Params> extends AgentTool<Params> {
	execute(id: string, params: Params, context?: ToolContext): ToolExecutionEventStream;
}

/**
 * Makes a tool with `execute` from a function that does not stream. A handler that rejects is a tool that fails.
 */
// biome-ignore lint/suspicious/noExplicitAny: any parameters are the default
export function createSimpleTool<Params = any>(
	config: Omit<AgentTool, "execute">,
	handler: (id: string, params: Params, context?: ToolContext) => ToolOutput | Promise<ToolOutput>,
): SimpleTool<Params> {
	return {
		...config,
		async *execute(id: string, params: Params, context?: ToolContext) {
			const { output, details } = await handler(id, params, context);
			yield { type: "complete", output, ...(details === undefined ? {} : { details }) };
		},
	};
}
