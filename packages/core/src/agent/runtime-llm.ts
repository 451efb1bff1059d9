// A function as a model: it receives the conversation and returns the messages of a step. It runs its own tools; its
// calls and results are recorded as it reports them.
import type { BoundLLMModel, LLMRequest } from "@holdfast/upp";
import type { EngineModel } from "../engine/index.ts";
import type { ToolContext } from "../tools/index.ts";
import type { ModelMessage } from "./model-messages.ts";

/** The context of a model function. */
export interface RuntimeLlmContext {
	/** The conversation, including the input, in the form of the AI SDK. A copy. */
	readonly history: ModelMessage[];
	/** Aborted when the run is asked to stop. */
	readonly signal: AbortSignal;
	/**
	 * The context of this call: its run, session and caller, and an idempotency key for the step. An agent sets it. The
	 * function of `createLlm` passes it to its tools as `context.parentContext`.
	 */
	readonly toolExecution?: ToolContext;
}

/** The request for a model function. */
export interface FunctionRequest extends LLMRequest {
	readonly toolExecution?: ToolContext;
}

/** Assistant messages. Each one with tool calls is followed by tool messages with the results. */
export type RuntimeLlmOutput = readonly ModelMessage[];

/**
 * A function in place of a model, for code that calls the model and its tools itself. It returns assistant messages; each
 * one with tool calls is followed by tool messages with the results. If the output ends with tool calls, the function is
 * called again with the longer history. `history` is a copy of the conversation, including the input.
 */
export type RuntimeLlm = (context: RuntimeLlmContext) => Promise<RuntimeLlmOutput> | RuntimeLlmOutput;

/** Whether a model is a model function. A provider, although also a function, is not. */
export function isRuntimeLlm(model: unknown): model is RuntimeLlm {
	if (typeof model !== "function") return false;
	const provider = model as { modalities?: unknown; languageModel?: unknown };
	return provider.modalities === undefined && typeof provider.languageModel !== "function";
}

// Loaded on first use and kept, because even a cached import() costs microseconds.
let asking: typeof import("./ask-runtime-llm.ts") | undefined;

/** Wraps the function as a model that the engine can ask. */
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
		async complete(request) {
			asking ??= await import("./ask-runtime-llm.ts");
			return asking.askRuntimeLlm(call, request);
		},
		stream() {
			throw new Error("a model function does not stream"); // its capabilities say so
		},
	};
	return {
		model,
		isFunction: true,
		request: (messages, { signal, toolExecution }): FunctionRequest => ({
			messages: typeof messages === "function" ? messages() : messages,
			config: {},
			...(signal === undefined ? {} : { signal }),
			...(toolExecution === undefined ? {} : { toolExecution }),
		}),
	};
}
