// Packages of agents, and the visibility of their items.
import type { AgentDefinition } from "./agent.ts";
import type { EffectDefinition } from "./effect.ts";
import type { Controller, MarkedThreadEndpoint } from "./endpoint.ts";
import type { HookDefinition } from "./hook.ts";
import type { ModelDefinition } from "./model.ts";
import type { PromptDefinition } from "./prompt.ts";
import type { ToolDefinition } from "./tool.ts";

/** The package that an item belongs to. */
export interface PackedMetadata {
	/** Name of the package, such as `@scope/pkg`. */
	packageId: string;
	/** Its version. */
	version?: string;
	/** Whether the project may use the item: true for entry agents, effects and endpoints that the package declares. */
	isEntry?: boolean;
}

/** The namespace of the project itself. */
export interface GlobalNamespaceContext {
	/** Always `global`. */
	type: "global";
}

/** The namespace of a package. */
export interface PackedNamespaceContext {
	/** Always `packed`. */
	type: "packed";
	/** Name of the package. */
	packageId: string;
}

/** The namespace of the calling code. */
export type NamespaceContext = GlobalNamespaceContext | PackedNamespaceContext;

/** Loads a definition by name. */
export type DefinitionLoader<T> = (name: string) => Promise<T>;

/** The metadata that a package declares. */
export interface PackedMeta {
	/** Name of the package. */
	packageId: string;
	/** Its version. */
	version?: string;
	/** Its author. */
	author?: string;
	/** Its license. */
	license?: string;
	/** Names of the agents that a project may use. */
	entryAgents: string[];
	/** Names of the effects that a project may schedule. */
	effects?: string[];
	/** Routes that are mounted below a thread's ID. */
	threadEndpoints?: string[];
}

/** The exports of a packed package. */
export interface PackedExports {
	/** Agents by name. */
	agents: Record<string, AgentDefinition>;
	/** Prompts by name. */
	prompts: Record<string, PromptDefinition>;
	/** Tools by name. */
	tools: Record<string, ToolDefinition>;
	/** Models by name. */
	models: Record<string, ModelDefinition>;
	/** Hooks by ID. */
	hooks: Record<string, HookDefinition>;
	/** Effects by name. */
	effects?: Record<string, EffectDefinition>;
	/** Thread endpoints by route key, such as `status.get`. */
	threadEndpoints?: Record<string, MarkedThreadEndpoint | Controller>;
	/** The metadata that the package declares. */
	__meta: PackedMeta;
}
