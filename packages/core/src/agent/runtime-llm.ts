// A function as a model: it is given the conversation and returns the messages of a step. Its tools are its own: what it
// called and what came of it is recorded as it says, and nothing of that is run here.
import {
	type BoundLLMModel,
	emptyUsage,
	type LLMRequest,
	type Message,
	type ToolExecution,
	type ToolResult,
	ToolResultMessage,
} from "@holdfast/upp";
import type { EngineModel, EngineResponse } from "../engine/index.ts";
import { type ModelMessage, toModelMessages } from "./model-messages.ts";
import { type ReadAnswer, readModelOutput } from "./read-model-output.ts";

/** What a model function is given. */
export interface RuntimeLlmContext {
	readonly history: ModelMessage[];
	/** Fires when the run is asked to stop. */
	readonly signal: AbortSignal;
	/** For functions that are called by hand: what their own tools are to know of the call. Not set by an agent. */
	readonly toolExecution?: unknown;
}

/** Assistant messages and, after those with tool calls, tool messages with the results. */
export type RuntimeLlmOutput = readonly ModelMessage[];

/**
 * A function in place of a model, for who wants to own the calls of the model and of its tools. It returns assistant
 * messages and, after those with tool calls, tool messages with the results. After an output that ends with tool calls
 * it is called again with the longer history. `history` is a copy of the conversation, the input included.
 *
 * @see keyed sessions, RuntimeLlm
 */
export type RuntimeLlm = (context: RuntimeLlmContext) => Promise<RuntimeLlmOutput> | RuntimeLlmOutput;

/** Whether a model is such a function; a provider, which is a function too, is not. */
export function isRuntimeLlm(model: unknown): model is RuntimeLlm {
	if (typeof model !== "function") return false;
	const provider = model as { modalities?: unknown; languageModel?: unknown };
	return provider.modalities === undefined && typeof provider.languageModel !== "function";
}

/** The function as a model that the engine can ask. */
export function runtimeLlmModel(call: RuntimeLlm): EngineModel {
	const model: BoundLLMModel = {
		modelId: call.name === "" ? "runtime-llm" : call.name,
		capabilities: {
			streaming: false,
			tools: false,
			structuredOutput: false,
			imageInput: true,
			videoInput: true,
			audioInput: true,
			documentInput: true,
		},
		complete: (request) => ask(call, request),
		stream() {
			throw new Error("a model function does not stream"); // its capabilities say so
		},
	};
	return {
		model,
		isFunction: true,
		request: (messages, { signal }) => ({
			messages: typeof messages === "function" ? messages() : messages,
			config: {},
			...(signal === undefined ? {} : { signal }),
		}),
	};
}

async function ask(
	call: RuntimeLlm,
	{ messages, signal = new AbortController().signal }: LLMRequest,
): Promise<EngineResponse> {
	const answers = readModelOutput(await call({ history: toModelMessages(messages), signal }));
	const last = answers.at(-1) as ReadAnswer;
	const before = answers.slice(0, -1);
	return {
		message: last.message,
		usage: emptyUsage(),
		stopReason: last.message.hasToolCalls ? "tool_calls" : "stop",
		...(last.results.length === 0 ? {} : { results: last.results }),
		...(before.length === 0
			? {}
			: { preceding: before.flatMap(messagesOf), executions: before.flatMap(executionsOf) }),
	};
}

function messagesOf({ message, results }: ReadAnswer): readonly Message[] {
	return results.length === 0 ? [message] : [message, new ToolResultMessage(results)];
}

function executionsOf({ message, results }: ReadAnswer): readonly ToolExecution[] {
	return (message.toolCalls ?? []).map(({ toolCallId, toolName, arguments: given }) => {
		const { result, isError = false } = results.find((each) => each.toolCallId === toolCallId) as ToolResult;
		return { toolCallId, toolName, arguments: given, result, isError, duration: 0 };
	});
}
