// The callables of a project: tools, prompts, agents, tools of MCP servers, and the calls that start and message agents.
import type { RetryPolicy, ToolContext } from "holdfast";
import type { ProjectItem, PromptToolConfig, SubagentToolConfig, SubpromptConfig } from "../types/index.ts";

/** A tool of an MCP server, as returned by `tools()` of `connectMcp`. */
export interface GivenMcpTool {
	/** Name of its server. */
	readonly server: string;
	/** Its name on the server. */
	readonly toolName: string;
	/** Explains the tool to the model. */
	readonly description?: unknown;
	/** JSON Schema of its parameters. */
	readonly parameters?: unknown;
	/** How a call may be retried after a crash. Default `manual-recovery`. */
	readonly retryPolicy?: RetryPolicy;
	/** Whether calls require approval, as in the options of a tool. */
	readonly needsApproval?: unknown;
	/** Calls the tool on its server. */
	// biome-ignore lint/suspicious/noExplicitAny: arguments of any tool
	run(params: any, context: ToolContext): unknown;
}

/** Something that a model can call. */
export type Callable = {
	/** The name by which the model calls it. */
	readonly name: string;
	readonly description: string;
	readonly parameters: Record<string, unknown>;
} & (
	| { readonly kind: "tool"; readonly item: ProjectItem<"tool">; readonly config: PromptToolConfig }
	| { readonly kind: "provider"; readonly config: PromptToolConfig; readonly provider?: string }
	| { readonly kind: "mcp"; readonly tool: GivenMcpTool; readonly config: PromptToolConfig }
	| {
			readonly kind: "prompt";
			readonly item: ProjectItem<"prompt">;
			readonly config: SubpromptConfig;
	  }
	| { readonly kind: "handoff"; readonly item: ProjectItem<"agent"> }
	| {
			readonly kind: "agent";
			readonly item: ProjectItem<"agent">;
			readonly config: SubagentToolConfig;
	  }
	| { readonly kind: "create" | "message"; readonly agents: readonly ResumableAgent[] }
);

/** An agent whose instances accept further messages. */
export interface ResumableAgent {
	readonly item: ProjectItem<"agent">;
	readonly config: SubagentToolConfig;
}
