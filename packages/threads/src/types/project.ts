// A loaded project: a value that never changes. Loading it again creates another one.
import type { AgentDefinition } from "./agent.ts";
import type { EffectDefinition } from "./effect.ts";
import type { Controller, MarkedThreadEndpoint } from "./endpoint.ts";
import type { HookDefinition } from "./hook.ts";
import type { ModelDefinition } from "./model.ts";
import type { NamespaceContext } from "./packing.ts";
import type { PromptDefinition } from "./prompt.ts";
import type { ProviderFactoryWithOptions } from "./provider.ts";
import type { ToolDefinition } from "./tool.ts";

/** Definitions of a project by their kind. */
export interface ProjectDefinitions {
	/** Agents. */
	agent: AgentDefinition;
	/** Prompts. */
	prompt: PromptDefinition;
	/** Tools. */
	tool: ToolDefinition;
	/** Models. */
	model: ModelDefinition;
	/** Hooks. */
	hook: HookDefinition;
	/** Effects. */
	effect: EffectDefinition;
	/** Factories of providers. */
	provider: ProviderFactoryWithOptions;
}

/** The kinds of a project's named items. */
export type ItemKind = keyof ProjectDefinitions;

/** An item of a project. */
export interface ProjectItem<Kind extends ItemKind = ItemKind> {
	/** Its kind. */
	readonly kind: Kind;
	/** Unique among items of its kind: its own name, or `package/name` in a package. */
	readonly name: string;
	/** Its own name. A hook's is its ID. */
	readonly localName: string;
	/** Name of the package it belongs to; null for the project itself. */
	readonly packageId: string | null;
	/** The namespace of its code, in which the names it uses are looked up. */
	readonly namespace: NamespaceContext;
	/** Whether the project's code may use it: all of the project's own items, and those that a package declares. */
	readonly isEntry: boolean;
	/** Absolute path of its file. */
	readonly file: string;
	/** The definition. */
	readonly definition: ProjectDefinitions[Kind];
}

/** A route of a project. */
export interface ProjectEndpoint {
	/**
	 * Its path with dynamic segments and without a leading or trailing slash: `files/[id]`, `docs/[*]`; empty for
	 * `index`.
	 */
	readonly route: string;
	/** Its method, in upper case. */
	readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
	/** Answers a request; a thread endpoint if `isThreadEndpoint` is true. */
	readonly handler: Controller | MarkedThreadEndpoint;
	/** Name of the package it belongs to; null for the project itself. */
	readonly packageId: string | null;
	/** Absolute path of its file. */
	readonly file: string;
}

/** A loaded project. */
export interface Project {
	/** Absolute path of the folder that was loaded. */
	readonly directory: string;
	/** Hash of the files that define its items: it changes when such a file changes. */
	readonly version: string;
	/** Agents by qualified name. */
	readonly agents: ReadonlyMap<string, ProjectItem<"agent">>;
	/** Prompts by qualified name. */
	readonly prompts: ReadonlyMap<string, ProjectItem<"prompt">>;
	/** Tools by qualified name. */
	readonly tools: ReadonlyMap<string, ProjectItem<"tool">>;
	/** Models by qualified name. */
	readonly models: ReadonlyMap<string, ProjectItem<"model">>;
	/** Hooks by qualified ID. */
	readonly hooks: ReadonlyMap<string, ProjectItem<"hook">>;
	/** Effects by qualified name. */
	readonly effects: ReadonlyMap<string, ProjectItem<"effect">>;
	/** Factories of providers by qualified name. */
	readonly providers: ReadonlyMap<string, ProjectItem<"provider">>;
	/** Routes; if several have the same path and method, only the one that answers. */
	readonly endpoints: readonly ProjectEndpoint[];
	/** Problems that do not prevent loading. */
	readonly warnings: readonly string[];
	/**
	 * Returns the item that a name refers to in a namespace; undefined if it is not visible or does not exist. The
	 * project's code names its own items and, qualified, entries of packages. A package's code names its own items, with
	 * or without the package's name, and nothing else.
	 */
	visible<Kind extends ItemKind>(
		namespace: NamespaceContext,
		kind: Kind,
		name: string,
	): ProjectItem<Kind> | undefined;
	/**
	 * Returns all names that {@link Project.visible} finds in a namespace, sorted: a package's own items by their local
	 * names.
	 */
	names(namespace: NamespaceContext, kind: ItemKind): readonly string[];
}

/** A project that is replaced when its files change. The new one takes effect with the next turn. */
export interface LiveProject {
	/** The current project. */
	readonly current: Project;
}

/** A project, or one that is replaced when its files change. */
export type ProjectSource = Project | LiveProject;
