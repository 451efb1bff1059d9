// The names of a project as types. `holdfast dev` and `holdfast check` write the registries of a project; if none were
// written, every name is a string.

declare global {
	/** Types for the names of the compiled project. Generated files add members to its registries. */
	namespace StandardAgentSpec {
		/** Tools by name. */
		interface ToolRegistry {}
		/** Prompts by name. */
		interface PromptRegistry {}
		/** Agents by name. */
		interface AgentRegistry {}
		/** Models by name. */
		interface ModelRegistry {}
		/** Hooks by ID. */
		interface HookRegistry {}
		/** Effects by name. */
		interface EffectRegistry {}
		/** Tools, prompts and exposed agents: everything that a prompt can call. */
		interface CallableRegistry {}

		/** Names of tools, or any string while the registry is empty. */
		type Tools = keyof ToolRegistry extends never ? string : keyof ToolRegistry;
		/** Names of prompts, or any string while the registry is empty. */
		type Prompts = keyof PromptRegistry extends never ? string : keyof PromptRegistry;
		/** Names of agents, or any string while the registry is empty. */
		type Agents = keyof AgentRegistry extends never ? string : keyof AgentRegistry;
		/** Names of models, or any string while the registry is empty. */
		type Models = keyof ModelRegistry extends never ? string : keyof ModelRegistry;
		/** IDs of hooks, or any string while the registry is empty. */
		type Hooks = keyof HookRegistry extends never ? string : keyof HookRegistry;
		/** Names of effects, or any string while the registry is empty. */
		type Effects = keyof EffectRegistry extends never ? string : keyof EffectRegistry;
		/** A tool that the provider executes. */
		type ProviderCallable = `provider:${string}`;
		/** A tool of an MCP server. */
		type McpCallable = `mcp:${string}`;
		/** The names that a prompt can list, or any string while the registry is empty. */
		type Callables = keyof CallableRegistry extends never
			? string
			: keyof CallableRegistry | ProviderCallable | McpCallable;
	}
}

/** Name of a prompt. */
export type PromptName = StandardAgentSpec.Prompts;
/** Name of an agent. */
export type AgentName = StandardAgentSpec.Agents;
/** Name of a model. */
export type ModelName = StandardAgentSpec.Models;
/** ID of a hook. */
export type HookId = StandardAgentSpec.Hooks;
/** A name that a prompt can list. */
export type CallableName = StandardAgentSpec.Callables;
