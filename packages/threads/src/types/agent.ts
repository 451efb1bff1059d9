// Agents: one or two sides, each with a prompt.
import type { CallableName, HookId, PromptName } from "./registry.ts";

/** Whether an agent talks to people or to itself. */
export type AgentType = "ai_human" | "dual_ai";

/** Binds a tool call that ends a session or reports on it. */
export interface SessionToolBinding<Name extends string = string> {
	/** Name of the tool. */
	name: Name;
	/** The argument that holds the outcome's text. */
	messageProperty?: string;
	/** The argument that holds the outcome's files. */
	attachmentsProperty?: string;
}

/** A tool by name, or with the source of its call's arguments. */
export type SessionToolConfig<Name extends string = string> = Name | SessionToolBinding<Name>;

/** One side of an agent. */
export interface SideConfig<Prompt extends string = PromptName, Callable extends string = CallableName> {
	/** Name of its prompt. */
	prompt: Prompt;
	/** The display name. */
	label?: string;
	/** Whether a reply without tool calls ends its turn; `true` by default. */
	stopOnResponse?: boolean;
	/** The tool whose successful call ends its turn. */
	stopTool?: Callable;
	/** The property of that tool's result that becomes the turn's text; the whole result by default. */
	stopToolResponseProperty?: string;
	/** Maximum number of model calls in a turn; the runtime's own limit by default. */
	maxSteps?: number;
	/** The tool whose call ends the session as successful. */
	sessionStop?: SessionToolConfig<Callable>;
	/** The tool whose call ends the session as failed. */
	sessionFail?: SessionToolConfig<Callable>;
	/** The tool whose call sets the thread's status text. */
	sessionStatus?: SessionToolConfig<Callable>;
}

/** The publisher and the license of a package. */
export interface PackageSignature {
	/** Name of the package into which the agent is packed. */
	packageName?: string;
	/** Its version. */
	version?: string;
	/** Its author. */
	author?: string;
	/** Its license. */
	license?: string;
}

/**
 * A defined agent.
 */
export interface AgentDefinition<
	Name extends string = string,
	Prompt extends string = string,
	Callable extends string = string,
> extends PackageSignature {
	/** Its name, unique among agents, prompts and tools. */
	name: Name;
	/** Whether it talks to people (`ai_human`, the default) or to itself. */
	type?: AgentType;
	/** The AI, or the first of two. */
	sideA: SideConfig<Prompt, Callable>;
	/** The second AI of a `dual_ai` agent. */
	sideB?: SideConfig<Prompt, Callable>;
	/** Turns of both sides after which a `dual_ai` session ends; no limit by default. */
	maxSessionTurns?: number;
	/** Whether prompts can list it as a tool; `false` by default. */
	exposeAsTool?: boolean;
	/** A description for models that may call it. */
	toolDescription?: string;
	/** The display name. */
	title?: string;
	/** A description for people. */
	description?: string;
	/** Its picture: a URL or a path. */
	icon?: string;
	/** Environment values; thread values override them. */
	env?: Record<string, string>;
	/** IDs of its hooks, in the order in which they run. */
	hooks?: readonly HookId[];
}
