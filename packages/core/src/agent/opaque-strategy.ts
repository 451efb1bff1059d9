// A custom strategy runs as it is: it gets the agent's model as an LLMInstance that runs the agent's tools, and its
// result is the call's. Its onStepEnd is a checkpoint; what its sub-agents did becomes traces. @see UAP 5.5
import { type LLMInstance, type LLMOptions, llm, type Tool, type ToolUseStrategy } from "@holdfast/upp";
import {
	cancelled,
	type EngineAgent,
	type GenerateResult,
	isSubagentEvent,
	TraceCollector,
} from "../engine/index.ts";
import type { MiddlewareContext } from "../middleware/index.ts";
import type { AgentState } from "../state/index.ts";
import {
	type ExecutionContext,
	type ExecutionStrategy,
	rememberInstance,
	type StrategyAgent,
} from "../strategies/index.ts";
import { type EngineTool, runTool, type ToolContext } from "../tools/index.ts";
import type { CallOptions } from "./agent-call.ts";
import type { Checkpoints } from "./checkpoints.ts";
import type { AgentStreamEvent } from "./uap-events.ts";

/** A custom strategy with all it needs from its agent. */
export interface OpaqueStrategy {
	readonly strategy: ExecutionStrategy;
	/** The options that go to the model layer. */
	readonly llmOptions: LLMOptions;
}

/** A custom strategy under way. */
export interface OpaqueCall {
	readonly result: Promise<GenerateResult>;
	stop(): void;
}

/** Runs a custom strategy; with `push`, through its own `stream`. */
export function runOpaque(
	agent: StrategyAgent,
	engine: EngineAgent,
	opaque: OpaqueStrategy,
	{ input, state }: MiddlewareContext,
	options: CallOptions,
	checkpoints: Checkpoints | undefined,
	push: ((event: AgentStreamEvent) => void) | undefined,
): OpaqueCall {
	const controller = new AbortController();
	const traces = new TraceCollector();
	const told = { completed: false };
	let latest = state;
	const { onStepEnd, onComplete } = engine.hooks;
	const context: ExecutionContext = {
		agent,
		llm: instanceOf(engine, opaque, state, controller.signal, options, traces, push),
		input,
		state,
		tools: agent.tools as readonly Tool[],
		strategy: {
			...engine.hooks,
			onStepEnd(step, result) {
				latest = result.state;
				checkpoints?.save(checkpoints.identify(result.state));
				return onStepEnd?.(step, result);
			},
			...(onComplete === undefined
				? {}
				: {
						onComplete(result: GenerateResult) {
							told.completed = true;
							return onComplete(result);
						},
					}),
		},
		signal: controller.signal,
	};
	const cut = Promise.withResolvers<never>();
	cut.promise.catch(() => {}); // a call that was never cancelled leaves it open
	const execute = async (): Promise<GenerateResult> => {
		try {
			const working =
				push === undefined ? opaque.strategy.execute(context) : follow(opaque.strategy, context, push);
			const { turn, state: given } = await Promise.race([working, cut.promise]);
			const result = { turn, state: finished(given, traces, checkpoints) };
			if (!told.completed) await onComplete?.(result);
			return result;
		} catch (error) {
			if (controller.signal.aborted) throw cancelled();
			const recovered = await engine.hooks.onError?.(error, latest);
			if (recovered !== undefined && recovered !== null) return recovered as GenerateResult;
			throw error;
		}
	};
	return {
		result: execute(),
		stop() {
			controller.abort(cancelled());
			cut.reject(cancelled());
		},
	};
}

async function follow(
	strategy: ExecutionStrategy,
	context: ExecutionContext,
	push: (event: AgentStreamEvent) => void,
): Promise<GenerateResult> {
	const stream = strategy.stream(context);
	context.signal?.addEventListener("abort", () => stream.abort?.(), { once: true });
	stream.result.catch(() => {}); // iterating tells the same error first
	for await (const event of stream) push(event);
	return stream.result;
}

/** The strategy's own state, with the session it belongs to and the traces of its sub-agents. */
function finished(
	given: AgentState,
	traces: TraceCollector,
	checkpoints: Checkpoints | undefined,
): AgentState {
	let state = given;
	for (const trace of traces.take()) state = state.withSubagentTrace(trace);
	return checkpoints === undefined ? state : checkpoints.identify(state);
}

/** The agent's model with the agent's tools, as `llm()` runs them: with their context, checked and told about. */
function instanceOf(
	engine: EngineAgent,
	{ llmOptions }: OpaqueStrategy,
	state: AgentState,
	signal: AbortSignal,
	options: CallOptions,
	traces: TraceCollector,
	push: ((event: AgentStreamEvent) => void) | undefined,
): LLMInstance {
	const runId = engine.ports.ids.uuid();
	const contextOf = (tool: EngineTool, own: { toolCallId?: string } | undefined): ToolContext => {
		const toolCallId = own?.toolCallId ?? engine.ports.ids.uuid();
		return {
			toolCallId,
			toolName: tool.name,
			signal,
			attempt: 1,
			idempotencyKey: `${runId}.${toolCallId}`,
			retryPolicy: tool.retryPolicy,
			step: state.step,
			agentId: engine.id,
			stateId: state.id,
			runId,
			...engine.toolContext,
			...(options.parentContext === undefined ? {} : { parentContext: options.parentContext }),
			emit() {},
			onSubagentEvent(event) {
				if (!isSubagentEvent(event)) return;
				traces.tell(event);
				const { type, ...data } = event;
				push?.({ source: "uap", uap: { type, step: state.step, agentId: engine.id, data } });
			},
			messages: state.messages,
		};
	};
	const sources = new Map<object, object>();
	const tools = engine.toolList.map((tool): Tool => {
		const wrapped: Tool = {
			name: tool.name,
			description: tool.description,
			parameters: tool.parameters,
			async run(params, own) {
				const checked = await tool.validate(params);
				if (!checked.ok) throw new Error(checked.message);
				const outcome = await runTool(tool, checked.value, contextOf(tool, own), () => {});
				if (!outcome.isError) return outcome.output;
				throw outcome.error instanceof Error ? outcome.error : new Error(String(outcome.output));
			},
			...(tool.approval === undefined ? {} : { approval: tool.approval }),
		};
		sources.set(wrapped, tool.source);
		return wrapped;
	});
	const toolStrategy = withSources(engine.toolStrategy, (tool) => (sources.get(tool) ?? tool) as Tool);
	return rememberInstance(llm({ ...llmOptions, tools, toolStrategy, ...{ signal } }), engine.model());
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
