// Passes tools their context outside the engine, for strategies and tools that call tools themselves. The engine always
// passes the context, however a tool declares its parameters.

import { checkOptions, optionNames, type Tool, uuid } from "@holdfast/upp";
import type { OnSubagentEvent } from "./subagent-event.ts";
import type { AnyTool } from "./types.ts";

const injectToolContextNames = optionNames<InjectToolContextOptions>({ onSubagentEvent: "function" });

/** A tool's information about its caller. The engine provides more, see `ToolContext`. */
export interface ToolExecutionContext {
	/** The id of the agent that makes the call. */
	readonly agentId: string;
	/** The id of the state before the call. */
	readonly stateId: string;
	/** The id of the call that the tool serves. */
	readonly toolCallId?: string;
	/** Receives the events of the tool's sub-agents. */
	readonly onSubagentEvent?: OnSubagentEvent;
	/** The model of the calling agent, for sub-agents without their own. */
	// biome-ignore lint/suspicious/noExplicitAny: handed to agent({ model }) as it is, whatever kind of model it is
	readonly parentModel?: any;
	/** The provider configuration (`config`) of the calling agent. */
	// biome-ignore lint/suspicious/noExplicitAny: handed to agent({ config }) as it is
	readonly parentConfig?: any;
}

/** The function of a tool that accepts its context. */
// biome-ignore lint/suspicious/noExplicitAny: parameters are typed where the tool is declared
export type ContextAwareToolRun = (params: any, context?: ToolExecutionContext) => unknown;

/** Options of `injectToolContext`. */
export interface InjectToolContextOptions {
	/** Receives the events of sub-agents that the tools run. */
	readonly onSubagentEvent?: OnSubagentEvent;
}

/** The part of an `ExecutionContext` that tools receive. */
interface CallingContext {
	/** The agent that makes the calls. */
	readonly agent: { readonly id: string; readonly model?: unknown; readonly config?: unknown };
	/** The state before the calls. */
	readonly state: { readonly id: string };
}

/**
 * Whether a tool's `run` visibly declares a second parameter. Only a hint: optional, defaulted and rest parameters are
 * not visible, and the engine passes the context in any case.
 */
export function isContextAwareTool(tool: AnyTool): boolean {
	return typeof tool.run === "function" && tool.run.length > 1;
}

/**
 * Returns new tools that pass the context of a strategy to tools that accept one. A context passed to `run` takes
 * precedence; without it, each call gets its own `toolCallId`. The given tools are not changed.
 */
export function injectToolContext(
	tools: readonly Tool[],
	context: CallingContext,
	options: InjectToolContextOptions = {},
): Tool[] {
	checkOptions(options, injectToolContextNames, { of: "injectToolContext()" });
	const { agent, state } = context;
	const { model: parentModel, config: parentConfig } = agent;
	const shared = { agentId: agent.id, stateId: state.id, parentModel, parentConfig };
	return tools.map((tool): Tool => {
		if (!isContextAwareTool(tool))
			return copyOf(tool, (params, own) => (own === undefined ? tool.run(params) : tool.run(params, own)));
		return copyOf(tool, (params, own) =>
			tool.run(params, {
				...shared,
				toolCallId: uuid(),
				...(own as object | undefined),
				...listener(options.onSubagentEvent, own as ToolExecutionContext | undefined),
			}),
		);
	});
}

/** Returns a copy of a tool that a handler runs. The handler receives the context. */
export function withToolContext(
	tool: Tool,
	handler: (
		// biome-ignore lint/suspicious/noExplicitAny: parameters are typed where the handler is declared
		params: any,
		context?: ToolExecutionContext,
	) => Promise<unknown>,
): Tool {
	return copyOf(tool, (params, context) => handler(params, context as ToolExecutionContext | undefined));
}

/** Methods of a class are on its prototype, where a spread does not find them. */
function copyOf(tool: Tool, run: (params: unknown, context: unknown) => unknown): Tool {
	const approval =
		tool.approval === undefined ? {} : { approval: (params: unknown) => tool.approval?.(params) as boolean };
	const { name, description, parameters } = tool;
	return { ...tool, name, description, parameters, ...approval, run };
}

/** Sub-agent events go both to the listener given here and to the caller. */
function listener(
	given: OnSubagentEvent | undefined,
	own: ToolExecutionContext | undefined,
): Pick<ToolExecutionContext, "onSubagentEvent"> {
	const others = own?.onSubagentEvent;
	if (given === undefined || others === undefined)
		return given === undefined ? {} : { onSubagentEvent: given };
	return {
		onSubagentEvent(event) {
			given(event);
			others.call(own, event);
		},
	};
}
