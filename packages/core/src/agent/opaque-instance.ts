// The LLMInstance of a custom strategy: the agent's model with the agent's tools. It runs them as `llm()` does, passes
// them their context, checks their arguments and reports their results.
import { type LLMInstance, type LLMOptions, llm, type Tool, type ToolUseStrategy } from "@holdfast/upp";
import type { AgentStreamEvent } from "../engine/index.ts";
import { type EngineAgent, isSubagentEvent } from "../engine/index.ts";
import type { DrivenStages } from "../policy/index.ts";
import { rememberInstance } from "../strategies/index.ts";
import {
	type EngineTool,
	runTool,
	type ToolContext,
	type ToolOutcome,
	withinItsTime,
} from "../tools/index.ts";
import type { CallOptions } from "./agent-call.ts";
import type { OpaqueProgress } from "./opaque-progress.ts";

export interface InstanceOptions {
	readonly engine: EngineAgent;
	/** The options passed to the model layer. */
	readonly llmOptions: LLMOptions;
	readonly signal: AbortSignal;
	readonly options: CallOptions;
	readonly progress: OpaqueProgress;
	readonly push: ((event: AgentStreamEvent) => void) | undefined;
	/** The interceptors around its tool calls. */
	readonly stages: Pick<DrivenStages, "toolCall" | "toolResult">;
	/** Ends the call with an error, even if the strategy continues. */
	fail(error: unknown): void;
}

/** Creates the instance. A deciding strategy that receives one asks the underlying model directly. */
export function opaqueInstance(given: InstanceOptions): LLMInstance {
	const { engine, llmOptions, signal, options } = given;
	const runId = engine.ports.ids.uuid();
	const sources = new Map<object, object>();
	/** The number of occurrences of each call id: models repeat ids, and different calls need different keys. */
	const occurrences = new Map<string, number>();
	const tools = engine.toolList.map((tool): Tool => {
		const wrapped: Tool = {
			name: tool.name,
			description: tool.description,
			parameters: tool.parameters,
			async run(params, own) {
				const context = contextOf(given, runId, tool, own, occurrences);
				const { outcome, input } = await intercepted(given, context, params, async (input) => {
					const checked = await tool.validate(input);
					if (!checked.ok) throw new Error(checked.message);
					const expiring = new AbortController();
					const limited = { ...context, signal: AbortSignal.any([context.signal, expiring.signal]) };
					return withinItsTime(
						tool,
						runTool(tool, checked.value, tool.timeoutMs === undefined ? context : limited, () => {}),
						given.engine.ports.timers,
						{ stopped: context.signal, expire: (reason) => expiring.abort(reason) },
					);
				});
				const { isError, output, error } = await replacedOutcome(given, context, input, outcome);
				if (!isError) return output;
				throw error instanceof Error ? error : new Error(String(output));
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

/** Runs a tool call with its interceptors. An error in one of them ends the call. */
async function intercepted(
	{ stages, fail }: InstanceOptions,
	{ toolCallId, toolName }: ToolContext,
	given: unknown,
	run: (input: unknown) => Promise<ToolOutcome>,
): Promise<{ outcome: ToolOutcome; input: unknown }> {
	const { toolCall } = stages;
	if (toolCall === undefined) return { outcome: await run(given), input: given };
	const decision = await guarded(fail, () => toolCall({ toolCallId, toolName, input: given }));
	switch (decision?.action) {
		case "reject-and-continue":
			return { outcome: { output: decision.message, isError: true }, input: given };
		case "synthesize":
			return { outcome: { output: decision.output, isError: false }, input: given };
		case "error":
			fail(decision.error);
			throw decision.error;
		default: {
			const input = decision?.action === "modify" ? decision.input : given;
			return { outcome: await run(input), input };
		}
	}
}

async function replacedOutcome(
	{ stages, fail }: InstanceOptions,
	{ toolCallId, toolName }: ToolContext,
	input: unknown,
	outcome: ToolOutcome,
): Promise<ToolOutcome> {
	const { toolResult } = stages;
	if (toolResult === undefined) return outcome;
	const status = outcome.isError ? "error" : "done";
	const { output } = outcome;
	const came = await guarded(fail, () => toolResult({ toolCallId, toolName, input, status, output }));
	return came.status === status && came.output === output
		? outcome
		: { output: came.output, isError: came.status !== "done" };
}

/** Returns the interceptor's answer. An error ends the call and does not become a tool result. */
async function guarded<T>(fail: (error: unknown) => void, ask: () => T | Promise<T>): Promise<T> {
	try {
		return await ask();
	} catch (error) {
		fail(error);
		throw error;
	}
}

/** A strategy that runs calls itself does not identify the current call. */
const nothingKnown = { toolCallId: "" };

/** This path cannot ask anyone, so a call that requires approval does not run. */
function approvalOf({ approval, needsApproval }: EngineTool): Pick<Tool, "approval"> {
	if (needsApproval === undefined && approval === undefined) return {};
	return {
		approval: async (params) => {
			if ((await needsApproval?.(params, nothingKnown)) === true) return false;
			return approval === undefined || (await approval(params, nothingKnown)) === true;
		},
	};
}

function contextOf(
	{ engine, signal, options, progress, push }: InstanceOptions,
	runId: string,
	tool: EngineTool,
	own: { toolCallId?: string } | undefined,
	occurrences: Map<string, number>,
): ToolContext {
	const toolCallId = own?.toolCallId ?? engine.ports.ids.uuid();
	const occurrence = (occurrences.get(toolCallId) ?? 0) + 1;
	occurrences.set(toolCallId, occurrence);
	const { step, state } = progress;
	return {
		toolCallId,
		toolName: tool.name,
		signal,
		attempt: 1,
		idempotencyKey: occurrence === 1 ? `${runId}.${toolCallId}` : `${runId}.${toolCallId}.${occurrence}`,
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
			progress.notify(event);
			const { type, ...data } = event;
			push?.({ source: "uap", uap: { type, step, agentId: engine.id, data } });
		},
		messages: state.messages,
	};
}

/** Passes the caller's own tool objects to hooks. */
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
