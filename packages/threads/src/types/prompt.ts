// Prompts: the instructions of a side of an agent, and its callables.

import type { infer as Infer } from "zod";
import type { AgentName, CallableName, HookId, ModelName, PromptName } from "./registry.ts";
import type { SubagentToolConfig } from "./subagent.ts";
import type { ToolArgs, VariableDefinition } from "./tool.ts";

/** Text of a prompt, used unchanged. */
export interface PromptTextPart {
	/** Always `text`. */
	type: "text";
	/** The text. */
	content: string;
}

/** Another prompt, inlined. */
export interface PromptIncludePart<Prompt extends string = PromptName> {
	/** Always `include`. */
	type: "include";
	/** Name of the other prompt. */
	prompt: Prompt;
}

/** A value of the environment, inlined. It must not be a secret. */
export interface PromptEnvPart {
	/** Always `env`. */
	type: "env";
	/** Name of the value. */
	property: string;
}

/** A part of a prompt. */
export type PromptPart = PromptTextPart | PromptIncludePart | PromptEnvPart;
/** A prompt in parts, rendered in order without separators. */
export type StructuredPrompt = readonly PromptPart[];
/** The text of a prompt, plain or in parts. */
export type PromptContent = string | StructuredPrompt;

/** Another prompt that is called as a tool. */
export interface SubpromptConfig<Name extends string = string> {
	/** Name of the prompt. */
	name: Name;
	/** Whether its text is part of the result; `true` by default. */
	includeTextResponse?: boolean;
	/** Whether its tool calls are part of the result; `true` by default. */
	includeToolCalls?: boolean;
	/** Whether errors are part of the result; `true` by default. */
	includeErrors?: boolean;
	/** The argument that becomes its user message. */
	initUserMessageProperty?: string;
	/** The argument that lists the files to pass to it. */
	initAttachmentsProperty?: string;
}

/** A tool with its own environment values. */
export interface PromptToolConfig<Name extends string = string> {
	/** Name of the tool. */
	name: Name;
	/** Environment values for this tool only. */
	env?: Record<string, string>;
	/** Data for the tool, or for the provider that executes it. */
	options?: Record<string, unknown>;
}

/** The former name of {@link SubpromptConfig}. */
export type ToolConfig<Name extends string = string> = SubpromptConfig<Name>;

/** How much a model reasons. */
export interface ReasoningConfig {
	/** The level of effort. */
	effort?: "low" | "medium" | "high";
	/** Maximum number of reasoning tokens. */
	maxTokens?: number;
	/** Whether reasoning is omitted from the answer. */
	exclude?: boolean;
	/** Whether reasoning is stored in the message. */
	include?: boolean;
}

/** The arguments of a prompt. */
export type PromptInput<Schema extends ToolArgs> = Infer<Schema>;

/**
 * A defined prompt.
 */
export interface PromptDefinition<Name extends string = string, Schema extends ToolArgs = ToolArgs> {
	/** Its name, unique among agents, prompts and tools. */
	name: Name;
	/** A description for models that may call it as a tool. */
	toolDescription: string;
	/** The system message. */
	prompt: PromptContent;
	/** Name of the model. */
	model: ModelName;
	/** Whether it sees the thread's messages when it is called as a tool; `false` by default. */
	includeChat?: boolean;
	/** Whether it sees tool calls of earlier turns; `false` by default. */
	includePastTools?: boolean;
	/** Whether the model may call several tools in one step; `false` by default. */
	parallelToolCalls?: boolean;
	/** Whether the model may call tools (`auto`, the default), must not (`none`), or must (`required`). */
	toolChoice?: "auto" | "none" | "required";
	/** The schema of its arguments when it is called as a tool; free text by default. */
	requiredSchema?: Schema;
	/** Environment values it needs. */
	variables?: VariableDefinition[];
	/** The callables of the model: names, sub-prompts, tools with options, sub-agents. */
	tools?: readonly (
		| CallableName
		| SubpromptConfig<CallableName>
		| PromptToolConfig<CallableName>
		| SubagentToolConfig<AgentName>
	)[];
	/** Environment values; those of the agent and the thread override them. */
	env?: Record<string, string>;
	/** How many of the last messages keep their images; 10 by default. */
	recentImageThreshold?: number;
	/** Options for the provider, merged over the model's. */
	providerOptions?: Record<string, unknown>;
	/** How much the model reasons. */
	reasoning?: ReasoningConfig;
	/** IDs of hooks, which replace the agent's. */
	hooks?: readonly HookId[];
}
