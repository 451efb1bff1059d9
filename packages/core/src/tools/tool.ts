// Holdfast's own two ways to declare a tool: `tool({...})`, and `createSimpleTool`.

import { checkOptions, HoldfastTypeError, type JSONSchema } from "@holdfast/upp";
import { readToolInput, validatingSchema } from "./tool-input.ts";
import { invalidTool } from "./tool-options.ts";
import type { AnyTool, ToolContext, ToolExecutionEvent, ToolOptions } from "./types.ts";

/** The part of a Standard Schema that carries its output type. */
export interface TypedSchema<Output> {
	readonly "~standard": {
		readonly types?: { readonly input: unknown; readonly output: Output } | undefined;
	};
}

/** The argument of `tool()`. */
export interface ToolDeclaration<Params, Name extends string = string, Result = unknown> extends ToolOptions {
	/** The name by which the model calls it. */
	readonly name: Name;
	/** The display name. */
	readonly label?: string;
	/** Explains to the model when and how to use it. */
	readonly description: string;
	/** JSON Schema, or a Standard Schema (zod, valibot, …), which also determines the type of `run`'s first parameter. */
	readonly parameters?: TypedSchema<Params> | JSONSchema;
	/**
	 * The same under the AI SDK's name. If `parameters` is JSON Schema as well, this one validates and `parameters` is
	 * shown to the model.
	 */
	readonly inputSchema?: TypedSchema<Params> | JSONSchema;
	/** Does the work: returns text or JSON, a promise of it, or an async iterable of deltas. */
	run(params: Params, context: ToolContext): Result;
	/** Decides whether a call may run. */
	approval?(params: Params): boolean | Promise<boolean>;
}

/** The members of every declaration. */
interface CommonDeclaration<Name extends string> extends ToolOptions {
	/** The name by which the model calls it. */
	readonly name: Name;
	/** The display name. */
	readonly label?: string;
	/** Explains to the model when and how to use it. */
	readonly description: string;
}

/** A tool in the AI SDK's shape: `execute` takes the input, then the AI SDK's options. */
interface AiSdkDeclaration<Params, Name extends string, Result> extends CommonDeclaration<Name> {
	/** JSON Schema, or a Standard Schema, which also determines the type of the input. */
	readonly inputSchema: TypedSchema<Params> | JSONSchema;
	/** Shown to the model instead of `inputSchema`, which validates. Default: `inputSchema`. */
	readonly parameters?: JSONSchema;
	readonly run?: undefined;
	/** Does the work: returns text or JSON, a promise of it, or an async iterable. */
	execute(input: Params, options: AiSdkOptions): Result;
	/** Decides whether a call may run. */
	approval?(params: Params): boolean | Promise<boolean>;
}

/** The second argument of the AI SDK's `execute`. `context` is the context of a `run`. */
interface AiSdkOptions {
	readonly toolCallId: string;
	/** Aborted when the run is cancelled. */
	readonly abortSignal: AbortSignal;
	/** The conversation up to this call. */
	// biome-ignore lint/suspicious/noExplicitAny: the AI SDK's messages
	readonly messages: any[];
	/** The context of the call. */
	readonly context: ToolContext;
	/** The same as `context`. */
	readonly experimental_context: ToolContext;
}

/** A tool created from the shape of the AI SDK. */
interface AiSdkDeclaredTool<Params, Name extends string, Result> extends CommonDeclaration<Name> {
	/** The declared schema. */
	readonly inputSchema: TypedSchema<Params> | JSONSchema;
	/** The schema of the arguments, for the model. */
	readonly parameters: JSONSchema;
	/** Runs a call. */
	execute(input: Params, options: AiSdkOptions): Result;
	/** Decides whether a call may run. */
	approval?(params: Params): boolean | Promise<boolean>;
}

/** A tool whose `execute` takes the call's id first. */
interface ExecuteDeclaration<Params, Name extends string, Result> extends CommonDeclaration<Name> {
	/** JSON Schema, or a Standard Schema, which also determines the type of `params`. */
	readonly parameters?: TypedSchema<Params> | JSONSchema;
	readonly inputSchema?: undefined;
	readonly run?: undefined;
	/** Does the work: returns text or JSON, a promise of it, or an async iterable of deltas. */
	execute(id: string, params: Params, context: ToolContext): Result;
	/** Decides whether a call may run. */
	approval?(params: Params): boolean | Promise<boolean>;
}

/** A tool created from a function that takes the id of the call first. */
interface ExecuteDeclaredTool<Params, Name extends string, Result> extends CommonDeclaration<Name> {
	/** The schema of the arguments, for the model. */
	readonly parameters: JSONSchema;
	/** Runs a call. */
	execute(id: string, params: Params, context?: ToolContext): Result;
	/** Decides whether a call may run. */
	approval?(params: Params): boolean | Promise<boolean>;
}

/** A tool without a function: the watcher of the run runs its calls, and sends the results. */
interface RemoteDeclaration<Params, Name extends string> extends CommonDeclaration<Name> {
	/** JSON Schema or a Standard Schema of the arguments. */
	readonly parameters?: TypedSchema<Params> | JSONSchema;
	/** The same under the AI SDK's name. */
	readonly inputSchema?: TypedSchema<Params> | JSONSchema;
	readonly run?: undefined;
	readonly execute?: undefined;
	/** Decides whether a call may run. */
	approval?(params: Params): boolean | Promise<boolean>;
}

/** A tool created without a function. */
interface RemoteTool<Params, Name extends string> extends CommonDeclaration<Name> {
	/** Never exists at run time. `_type` gives the compiler the type of the tool's input. */
	readonly parameters: JSONSchema & { readonly _type: Params };
	/** Decides whether a call may run. */
	approval?(params: Params): boolean | Promise<boolean>;
}

/** A tool created by `tool()`: its parameters as JSON Schema. */
export interface DeclaredTool<Params, Name extends string = string, Result = unknown> extends ToolOptions {
	/** The name by which the model calls it. */
	readonly name: Name;
	/** The display name. */
	readonly label?: string;
	/** Explains to the model when and how to use it. */
	readonly description: string;
	/** The schema of the arguments, for the model. */
	readonly parameters: JSONSchema;
	/** Runs a call. */
	run(params: Params, context?: ToolContext): Result;
	/** Decides whether a call may run. */
	approval?(params: Params): boolean | Promise<boolean>;
}

/**
 * Declares a tool. The type of its arguments comes from a Standard Schema, from the parameter of `run`, or from a type
 * argument: `tool<{ city: string }>({...})`. Without a type argument, events identify the tool by its name, with its
 * input and its result.
 *
 * The function is `run(params, context)`. The AI SDK's `inputSchema` with `execute(input, options)`, and `execute(id,
 * params, context)` without `inputSchema`, are accepted, too. Without a function the tool is remote: a run waits for its
 * results.
 *
 * @throws HoldfastError `invalid_option` for an unknown option, `invalid_tool`, `invalid_schema`,
 * `schema_not_convertible`.
 * @example
 * const weather = tool({
 * 	name: "weather",
 * 	description: "The weather in a city.",
 * 	parameters: z.object({ city: z.string() }),
 * 	run: ({ city }) => `Sunny in ${city}.`,
 * });
 */
export function tool<Params = Record<string, unknown>, const Name extends string = string, Result = unknown>(
	declaration: AiSdkDeclaration<Params, Name, Result>,
): AiSdkDeclaredTool<Params, Name, Result>;
export function tool<Params = Record<string, unknown>, const Name extends string = string, Result = unknown>(
	declaration: ExecuteDeclaration<Params, Name, Result>,
): ExecuteDeclaredTool<Params, Name, Result>;
export function tool<Params = Record<string, unknown>, const Name extends string = string>(
	declaration: RemoteDeclaration<Params, Name>,
): RemoteTool<Params, Name>;
export function tool<Params = Record<string, unknown>, const Name extends string = string, Result = unknown>(
	declaration: ToolDeclaration<Params, Name, Result>,
): DeclaredTool<Params, Name, Result>;
export function tool(declared: object): never {
	const declaration = declared as AnyTool & { readonly name: string };
	checkDeclaration(declaration);
	const { inputSchema, parameters, ...rest } = declaration;
	const { parameters: shown } = readToolInput(declaration, declaration.name);
	// The AI SDK's `execute` is recognised by its `inputSchema`: its first argument is the input, not the call's id.
	if (declaration.execute !== undefined && inputSchema !== undefined)
		return { ...rest, inputSchema, parameters: shown } as never;
	const validating = inputSchema ?? parameters;
	return {
		...rest,
		parameters: shown,
		...(validating === shown ? {} : { [validatingSchema]: validating }),
	} as never;
}

const declaredNames: ReadonlySet<string> = new Set([
	...Object.keys({
		name: true,
		label: true,
		description: true,
		parameters: true,
		inputSchema: true,
		run: true,
		execute: true,
		approval: true,
		sequential: true,
		dependsOn: true,
		loadedBy: true,
		retryPolicy: true,
		maxModelCharacters: true,
		needsApproval: true,
		editableApproval: true,
		timeoutMs: true,
		readOn: true,
		reconcile: true,
	} satisfies Record<keyof ToolDeclaration<unknown> | "execute", true>),
	// AI SDK and UPP options for the provider, or for the model's view of the output.
	"metadata",
	"providerOptions",
	"strict",
	"inputExamples",
	"toModelOutput",
	"type",
	"id",
	"args",
	"title",
	"outputSchema",
]);

const insteadInTools = {
	instructions: "Write `description`.",
	schema: "Write `parameters`.",
	input: "Write `parameters`.",
	handler: "Write `run`.",
	func: "Write `run`.",
	invoke: "Write `run`.",
	timeout: "Write `timeoutMs`.",
	requireApproval: "Write `needsApproval`.",
	requiresApproval: "Write `needsApproval`.",
	requireConfirmation: "Write `needsApproval`.",
};

function checkDeclaration(declaration: AnyTool & { readonly name: string }): void {
	if (typeof declaration !== "object" || declaration === null || Array.isArray(declaration))
		throw new HoldfastTypeError(
			"invalid_option",
			"tool() takes an object of options: `tool({ name, description, parameters, run })`.",
		);
	checkOptions(declaration, declaredNames, { of: "tool()", instead: insteadInTools });
	const { name, run, execute } = declaration;
	if (typeof name !== "string" || name === "")
		throw invalidTool("tool() takes a `name` that is a non-empty string: the model calls the tool by it.");
	for (const [option, given] of Object.entries({ run, execute }))
		if (given !== undefined && typeof given !== "function")
			throw invalidTool(`The tool "${name}" has \`${option}\` that is not a function.`);
	if (run !== undefined && execute !== undefined)
		throw invalidTool(`The tool "${name}" has both \`run\` and \`execute\`. Give one of them.`);
}

/** The result of a tool with `execute` that does not stream. */
export interface ToolOutput {
	/** The output that the model sees. */
	readonly output: string;
	/** Data for the application. Never sent to a model. */
	readonly details?: unknown;
}

/** The stream of a tool with `execute` that streams. */
export type ToolExecutionEventStream = AsyncIterable<ToolExecutionEvent>;

/** A tool with `execute(id, params, context)`; remote without it. */
// biome-ignore lint/suspicious/noExplicitAny: any parameters are the default
export interface AgentTool<Params = any> extends ToolOptions {
	/** The name by which the model calls it. */
	readonly name: string;
	/** The display name. */
	readonly label?: string;
	/** Explains the tool to the model. */
	readonly description?: string;
	/** JSON Schema or a Standard Schema. */
	readonly parameters: JSONSchema | TypedSchema<unknown>;
	/** Runs a call. Absent: the run waits for a result from outside. */
	execute?(
		id: string,
		params: Params,
		context?: ToolContext,
	): ToolExecutionEventStream | Promise<ToolOutput> | ToolOutput;
}

/** A tool created by `createSimpleTool`. */
export interface SimpleTool<Params> extends AgentTool<Params> {
	/** Runs a call. */
	execute(id: string, params: Params, context?: ToolContext): ToolExecutionEventStream;
}

/** Creates a tool with `execute` from a function that does not stream. If the handler rejects, the tool fails. */
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
