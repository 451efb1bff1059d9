// The two own ways to declare a tool: `tool({...})`, and `createSimpleTool`.

import { checkOptionNames, type JSONSchema } from "@holdfast/upp";
import { readToolInput, validatingSchema } from "./tool-input.ts";
import { invalidTool } from "./tool-options.ts";
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

interface CommonDeclaration<Name extends string> extends ToolOptions {
	readonly name: Name;
	readonly label?: string;
	readonly description: string;
}

/** A tool in the AI SDK's shape: `execute` takes the input, then the AI SDK's options. */
interface AiSdkDeclaration<Params, Name extends string, Result> extends CommonDeclaration<Name> {
	readonly inputSchema: TypedSchema<Params> | JSONSchema;
	readonly parameters?: JSONSchema;
	readonly run?: undefined;
	execute(input: Params, options: AiSdkOptions): Result;
	approval?(params: Params): boolean | Promise<boolean>;
}

/** The second argument of the AI SDK's `execute`. `context` is the context of a `run`. */
interface AiSdkOptions {
	readonly toolCallId: string;
	readonly abortSignal: AbortSignal;
	// biome-ignore lint/suspicious/noExplicitAny: the AI SDK's messages
	readonly messages: any[];
	readonly context: ToolContext;
	readonly experimental_context: ToolContext;
}

interface AiSdkDeclaredTool<Params, Name extends string, Result> extends CommonDeclaration<Name> {
	readonly inputSchema: TypedSchema<Params> | JSONSchema;
	readonly parameters: JSONSchema;
	execute(input: Params, options: AiSdkOptions): Result;
	approval?(params: Params): boolean | Promise<boolean>;
}

/** A tool in document 3's shape: `execute` takes the call's id first. */
interface ExecuteDeclaration<Params, Name extends string, Result> extends CommonDeclaration<Name> {
	readonly parameters?: TypedSchema<Params> | JSONSchema;
	readonly inputSchema?: undefined;
	readonly run?: undefined;
	execute(id: string, params: Params, context: ToolContext): Result;
	approval?(params: Params): boolean | Promise<boolean>;
}

interface ExecuteDeclaredTool<Params, Name extends string, Result> extends CommonDeclaration<Name> {
	readonly parameters: JSONSchema;
	execute(id: string, params: Params, context?: ToolContext): Result;
	approval?(params: Params): boolean | Promise<boolean>;
}

/** A tool without a function: the watcher of the run carries out its calls, and sends the results. */
interface RemoteDeclaration<Params, Name extends string> extends CommonDeclaration<Name> {
	readonly parameters?: TypedSchema<Params> | JSONSchema;
	readonly inputSchema?: TypedSchema<Params> | JSONSchema;
	readonly run?: undefined;
	readonly execute?: undefined;
	approval?(params: Params): boolean | Promise<boolean>;
}

interface RemoteTool<Params, Name extends string> extends CommonDeclaration<Name> {
	/** `_type` is never there: the compiler knows by it what the tool takes. */
	readonly parameters: JSONSchema & { readonly _type: Params };
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
 * The function is `run(params, context)`; the AI SDK's `inputSchema` with `execute(input, options)`, and `execute(id, params,
 * context)` without `inputSchema`, are accepted, too. Without a function the tool is remote: a run waits for its results.
 *
 * @throws HoldfastError `invalid_option` for an option that does not exist, `invalid_tool`, `invalid_schema`,
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
	// The AI SDK's `execute` is known by its `inputSchema`: its first argument is the input, not the call's id.
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
		retryPolicy: true,
		maxModelCharacters: true,
		needsApproval: true,
		editableApproval: true,
		timeoutMs: true,
		readOn: true,
		reconcile: true,
	} satisfies Record<keyof ToolDeclaration<unknown> | "execute", true>),
	// Options of AI SDK and UPP tools for their provider, or for the model's view of their output.
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
	checkOptionNames(declaration, declaredNames, { of: "tool()", instead: insteadInTools });
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
