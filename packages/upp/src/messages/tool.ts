// Tools, and their calls, results and executions, as plain data.

import type { ProviderMetadata } from "./content.ts";

/** A JSON Schema, as data. */
export interface JSONSchema {
	/** The JSON types that a value may have. */
	type?: string | string[];
	/** Explains the value to the model. */
	description?: string;
	/** The schemas of an object's members. */
	properties?: Record<string, JSONSchema | boolean>;
	/** The members that an object must have. */
	required?: string[];
	/** The schema of an array's elements. */
	items?: JSONSchema | boolean | JSONSchema[];
	/** The only values that are valid. */
	enum?: unknown[];
	// With `unknown`, TypeScript rejects schemas that a library declares as interfaces.
	/** Any other keyword of JSON Schema. */
	[keyword: string]: any;
}

/** A tool in the form that a model sees. */
export interface ModelTool {
	/** The name by which the model calls it. */
	name: string;
	/** Explains to the model what the tool does and when to call it. */
	description: string;
	/** The schema of the arguments, an object. */
	parameters: JSONSchema;
	/** Passed to the provider with the tool, keyed by the provider's name. */
	metadata?: ProviderMetadata;
	/** Whether the provider makes the model adhere to `parameters`. Default: the provider's. */
	strict?: boolean;
	/** Examples of arguments, for providers that show them to the model. */
	inputExamples?: readonly { readonly input: Record<string, unknown> }[];
	/** Set for a tool that its provider defines, such as a web search; only models of that provider support it. */
	provider?: ProviderTool;
}

/** Identifies a tool that a provider defines. */
export interface ProviderTool {
	/** For example `openai.web_search`. */
	readonly id: string;
	/** The provider's configuration of the tool. */
	readonly args: Readonly<Record<string, unknown>>;
}

/** A tool that can be run. If it throws, the model gets an error result. */
export interface Tool<Params = any, Result = unknown> extends ModelTool {
	/** Runs a call. `context` is a `ToolRunContext` in `llm()`, and the context of the engine in an agent. */
	run(params: Params, context?: any): Result | Promise<Result>;
	/** Called before each run; `false` answers the call without running it. */
	approval?(params: Params): boolean | Promise<boolean>;
}

/** A model's request to run a tool. */
export interface ToolCall {
	/** Identifies the call; its result has the same id. */
	toolCallId: string;
	/** The tool to run. */
	toolName: string;
	/** The arguments that the model wrote; empty if they were not a JSON object. */
	arguments: Record<string, unknown>;
	/** Ids of calls that must settle before this one starts. */
	after?: string[];
	/**
	 * The model's text if it was not a JSON object; empty if the answer was cut off before it was complete. In that case,
	 * `arguments` is empty, and the call must be answered with an error.
	 */
	invalidArguments?: string;
	/**
	 * Set if the call's id differs from the one its provider gave it, because that was already used: the provider's id,
	 * and the model that gave it. Prompts contain the call's own id, because strict providers refuse a repeated one.
	 */
	providerCall?: { readonly id: string; readonly modelId: string };
	/**
	 * Set if the provider runs the tool and asks first: the provider's id of the question. The result of the call answers
	 * it: an error or a denial refuses.
	 */
	approvalId?: string;
	/** With `approvalId`: the name of the provider that asked. Only that provider can use the answer. */
	approvalProvider?: string;
	/** Data that the provider needs back with this call, such as thought signatures. */
	metadata?: ProviderMetadata;
}

/** The result of one tool call. */
export interface ToolResult {
	/** Id of the call that it answers. */
	toolCallId: string;
	/** The result, as text or JSON data. */
	result: unknown;
	/** Whether `result` describes an error. Default: false. */
	isError?: boolean;
	/** Set if the call was denied and not run; `result` is the reason. Providers that support denials receive one. */
	denied?: true;
	/** Passed to the provider with the result, keyed by the provider's name. */
	metadata?: ProviderMetadata;
}

/** An executed tool call. */
export interface ToolExecution {
	/** The tool that was called. */
	toolName: string;
	toolCallId: string;
	/** The arguments that the model wrote. */
	arguments: Record<string, unknown>;
	/** The result that the model received; an error text if the call failed. */
	result: unknown;
	/** Whether the tool failed, was refused or does not exist. */
	isError: boolean;
	/** In milliseconds. */
	duration: number;
	/** The decision of `approval` or `onBeforeCall`, if any. */
	approved?: boolean;
	/** If the tool threw: the stack frames, without the message. Only for logs; no model or client sees it. */
	stack?: string;
}

/** The decision of `onBeforeCall`: run the tool, refuse it, or run it with other arguments. */
export type BeforeCallDecision = boolean | { proceed: boolean; params?: Record<string, unknown> };

/** How tool calls are handled while a model works. Hooks may be asynchronous and are awaited. */
export interface ToolUseStrategy {
	/** The maximum number of rounds of tool calls. Default: no limit. */
	maxIterations?: number;
	/** Called first for each call. If it throws, the call fails. */
	onToolCall?(tool: Tool, params: any): void | Promise<void>;
	/** Decides whether the call runs, and with which arguments. Default: it runs. */
	onBeforeCall?(tool: Tool, params: any): BeforeCallDecision | Promise<BeforeCallDecision>;
	/** May return a value that replaces the result; `undefined` keeps it. */
	onAfterCall?(tool: Tool, params: any, result: any): unknown;
	/** Called if the tool or a hook throws. The model then receives the error's message. */
	onError?(tool: Tool, params: any, error: Error): void | Promise<void>;
	/** Called when the model exceeds `maxIterations`, before the turn fails with `INVALID_REQUEST`. */
	onMaxIterations?(maxIterations: number): void | Promise<void>;
}
