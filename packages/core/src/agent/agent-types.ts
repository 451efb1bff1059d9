// The types of an agent, and the types that users infer from it.
import type { AgentEvent, RunEvent } from "../facts/index.ts";
import type { OutputOf } from "../output/index.ts";
import type { AgentRun, Session } from "../sessions/index.ts";
import type { AnyTool, KnownTool, KnownTools, ToolSet } from "../tools/index.ts";

/**
 * Tools by name, for `InferTools`. Names known only at run time, such as those from an MCP server, are left out because
 * they would widen the others.
 */
type ByName<Tool extends KnownTool> = {
	[Each in Named<Tool> as Each["name"]]: { input: Each["input"]; output: Each["output"] };
};

type Named<Tool extends KnownTool> = [Literal<Tool>] extends [never] ? Tool : Literal<Tool>;
type Literal<Tool extends KnownTool> = Tool extends KnownTool
	? string extends Tool["name"]
		? never
		: Tool
	: never;

/** The types of an agent. */
export interface AgentTypes<Tools, Schema> {
	/** The input and output type of each tool, by name. */
	readonly tools: ByName<KnownTools<Tools>>;
	/** The type of the structured answer. */
	readonly output: OutputOf<Schema>;
}

/** A run of an agent, with its events and its output. */
export type RunOf<Tools, Schema> = AgentRun<
	AgentEvent<Tools, OutputOf<Schema>>,
	OutputOf<Schema>,
	RunEvent<Tools>
>;

/** A session of an agent. */
export type SessionOf<Tools, Schema> = Session<
	AgentEvent<Tools, OutputOf<Schema>>,
	OutputOf<Schema>,
	RunEvent<Tools>
>;

/** The tools of an agent as a list. The types of tools given as a list are kept. */
export type ToolList<Tools> = Tools extends readonly AnyTool[] ? Tools : readonly AnyTool[];

/** An agent, or any value that declares its tools and its output. */
interface Typed<Tools, Output> {
	readonly "~types"?: { readonly tools: Tools; readonly output: Output } | undefined;
}

/**
 * The inputs and outputs of the tools of an agent, or of a list or record of tools, by name, as the AI SDK's messages
 * expect them: `UIMessage<unknown, UIDataTypes, InferTools<typeof clerk>>`. Includes only tools whose names the compiler
 * knows, so those from an MCP server are left out.
 */
export type InferTools<Given> = Given extends ToolSet
	? ByName<KnownTools<Given>>
	: Given extends Typed<infer Tools, unknown>
		? Tools
		: never;

/** The type of an agent's output: `InferOutput<typeof clerk>`. */
export type InferOutput<Agent> = Agent extends Typed<unknown, infer Output> ? Output : unknown;
