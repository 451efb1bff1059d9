// Tools and the calls, results and executions that come of them, as plain data.

import type { ProviderMetadata } from "./content.ts";

/** A JSON Schema, as data. */
export interface JSONSchema {
	type?: string | string[];
	description?: string;
	properties?: Record<string, JSONSchema | boolean>;
	required?: string[];
	items?: JSONSchema | boolean | JSONSchema[];
	enum?: unknown[];
	[keyword: string]: unknown;
}

/** A tool as a model sees it. */
export interface ModelTool {
	name: string;
	description: string;
	parameters: JSONSchema;
	/** Passed to the provider with the tool, keyed by the provider's name. */
	metadata?: ProviderMetadata;
	/** Whether the provider makes the model keep to `parameters`. Default: as the provider does. */
	strict?: boolean;
	/** Examples of arguments, for providers that show them to the model. */
	inputExamples?: readonly { readonly input: Record<string, unknown> }[];
	/** Set for a tool that its provider defines, such as a web search; only models of that provider know it. */
	provider?: ProviderTool;
}

/** Which tool of its provider a tool is. */
export interface ProviderTool {
	/** For example `openai.web_search`. */
	readonly id: string;
	/** How the provider sets it up. */
	readonly args: Readonly<Record<string, unknown>>;
}

/** A tool that can be run. A throw becomes an error result for the model. */
export interface Tool<Params = any, Result = unknown> extends ModelTool {
	run(params: Params, context?: any): Result | Promise<Result>;
	/** Asked before each run; `false` answers the call without running it. */
	approval?(params: Params): boolean | Promise<boolean>;
}

/** One request of a model to run a tool. */
export interface ToolCall {
	toolCallId: string;
	toolName: string;
	arguments: Record<string, unknown>;
	/** Ids of calls that must have settled before this one starts. */
	after?: string[];
	/**
	 * The text the model gave where it was no JSON object, empty where the answer was cut off before it was complete;
	 * `arguments` is empty then, and the call must be answered with an error.
	 */
	invalidArguments?: string;
	/**
	 * Set where the call has another id than its provider gave it, which had used that id before: the provider's id, and the
	 * model that gave it. Prompts hold the call's own id: strict providers refuse one that is repeated.
	 */
	providerCall?: { readonly id: string; readonly modelId: string };
	/**
	 * Set where the provider runs the tool and asks first: the provider's id of the question. The result of the call answers it: an
	 * error or a denial refuses.
	 */
	approvalId?: string;
	/** Data that the provider needs back with this call, such as thought signatures. */
	metadata?: ProviderMetadata;
}

/** The answer to one tool call. */
export interface ToolResult {
	toolCallId: string;
	result: unknown;
	isError?: boolean;
	/** Set where the call was denied and not run; `result` is the reason. Providers that know denials receive one. */
	denied?: true;
	/** Passed to the provider with the whole result, keyed by the provider's name. */
	metadata?: ProviderMetadata;
}

/** An executed tool call. */
export interface ToolExecution {
	toolName: string;
	toolCallId: string;
	arguments: Record<string, unknown>;
	result: unknown;
	isError: boolean;
	/** Milliseconds. */
	duration: number;
	/** The decision of `approval` or `onBeforeCall`, if there was one. */
	approved?: boolean;
	/** Of a tool that threw: the frames of the stack, without the message. For logs: no model and no client sees it. */
	stack?: string;
}

/** The decision of `onBeforeCall`: run the tool, refuse it, or run it with other arguments. */
export type BeforeCallDecision = boolean | { proceed: boolean; params?: Record<string, unknown> };

/** How tool calls are handled while a model works. Hooks may be asynchronous and are awaited. */
export interface ToolUseStrategy {
	/** How many rounds of tool calls at most. Default: no limit. */
	maxIterations?: number;
	onToolCall?(tool: Tool, params: any): void | Promise<void>;
	onBeforeCall?(tool: Tool, params: any): BeforeCallDecision | Promise<BeforeCallDecision>;
	/** May return a value that replaces the result; `undefined` keeps it. */
	onAfterCall?(tool: Tool, params: any, result: any): unknown;
	onError?(tool: Tool, params: any, error: Error): void | Promise<void>;
	onMaxIterations?(maxIterations: number): void | Promise<void>;
}
