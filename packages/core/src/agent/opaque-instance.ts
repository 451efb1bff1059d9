// The LLMInstance of a custom strategy: the agent's model with the agent's tools, as `llm()` runs them, with their
// context, checked and told about. @see UAP 5.1, 8.4
import { type LLMInstance, type LLMOptions, llm, type Tool, type ToolUseStrategy } from "@holdfast/upp";
import type { AgentStreamEvent } from "../engine/index.ts";
import { type EngineAgent, isSubagentEvent } from "../engine/index.ts";
import { rememberInstance } from "../strategies/index.ts";
import { type EngineTool, runTool, type ToolContext } from "../tools/index.ts";
import type { CallOptions } from "./agent-call.ts";
import type { OpaqueProgress } from "./opaque-progress.ts";

export interface InstanceOptions {
	readonly engine: EngineAgent;
	/** The options that go to the model layer. */
	readonly llmOptions: LLMOptions;
	readonly signal: AbortSignal;
	readonly options: CallOptions;
	readonly progress: OpaqueProgress;
	readonly push: ((event: AgentStreamEvent) => void) | undefined;
}

/** Makes the instance; a deciding strategy that is given it asks the model behind it directly. */
export function opaqueInstance(given: InstanceOptions): LLMInstance {
	const { engine, llmOptions, signal, options } = given;
	const runId = engine.ports.ids.uuid();
	const sources = new Map<object, object>();
	const tools = engine.toolList.map((tool): Tool => {
		const wrapped: Tool = {
			name: tool.name,
			description: tool.description,
			parameters: tool.parameters,
			async run(params, own) {
				const checked = await tool.validate(params);
				if (!checked.ok) throw new Error(checked.message);
				const outcome = await runTool(tool, checked.value, contextOf(given, runId, tool, own), () => {});
				if (!outcome.isError) return outcome.output;
				throw outcome.error instanceof Error ? outcome.error : new Error(String(outcome.output));
			},
			...approvalOf(tool),
		};
		sources.set(wrapped, tool.source);
		return wrapped;
	});
	const toolStrategy = withSources(engine.toolStrategy, (tool) => (sources.get(tool) ?? tool) as Tool);
	const { parentContext } = options;
	return rememberInstance(llm({ ...llmOptions, tools, toolStrategy, ...{ signal } }), {
		model: engine.model(),
		toolStrategy: engine.toolStrategy,
		ports: engine.ports,
		...(parentContext === undefined ? {} : { parentContext }),
	});
}

/** Nobody outside can be asked here: what needs to be let run is not run. */
function approvalOf({ approval, needsApproval }: EngineTool): Pick<Tool, "approval"> {
	if (needsApproval === undefined) return approval === undefined ? {} : { approval };
	return {
		approval: async (params) => !(await needsApproval(params)) && (await approval?.(params)) !== false,
	};
}

function contextOf(
	{ engine, signal, options, progress, push }: InstanceOptions,
	runId: string,
	tool: EngineTool,
	own: { toolCallId?: string } | undefined,
): ToolContext {
	const toolCallId = own?.toolCallId ?? engine.ports.ids.uuid();
	const { step, state } = progress;
	return {
		toolCallId,
		toolName: tool.name,
		signal,
		attempt: 1,
		idempotencyKey: `${runId}.${toolCallId}`,
		retryPolicy: tool.retryPolicy,
		step,
		agentId: engine.id,
		stateId: state.id,
		runId,
		...engine.toolContext,
		...(options.parentContext === undefined ? {} : { parentContext: options.parentContext }),
		emit() {},
		onSubagentEvent(event) {
			if (!isSubagentEvent(event)) return;
			progress.tell(event);
			const { type, ...data } = event;
			push?.({ source: "uap", uap: { type, step, agentId: engine.id, data } });
		},
		messages: state.messages,
	};
}

/** Hooks get the caller's own tool objects. */
function withSources(strategy: ToolUseStrategy, sourceOf: (tool: Tool) => Tool): ToolUseStrategy {
	const { onToolCall, onBeforeCall, onAfterCall, onError, ...rest } = strategy;
	const hooks: ToolUseStrategy = { ...rest };
	if (onToolCall) hooks.onToolCall = (tool, params) => onToolCall.call(strategy, sourceOf(tool), params);
	if (onBeforeCall)
		hooks.onBeforeCall = (tool, params) => onBeforeCall.call(strategy, sourceOf(tool), params);
	if (onAfterCall) {
		hooks.onAfterCall = (tool, params, result) => onAfterCall.call(strategy, sourceOf(tool), params, result);
	}
	if (onError) hooks.onError = (tool, params, error) => onError.call(strategy, sourceOf(tool), params, error);
	return hooks;
}
