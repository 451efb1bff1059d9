// A function as a model: it receives the conversation and returns the messages of a step. Its tools are its own: its
// calls and results are recorded as it reports them, and none of them run here.
import type { BoundLLMModel } from "@holdfast/upp";
import type { EngineModel } from "../engine/index.ts";
import type { ModelMessage } from "./model-messages.ts";

/** The context of a model function. */
export interface RuntimeLlmContext {
	readonly history: ModelMessage[];
	/** Fires when the run is asked to stop. */
	readonly signal: AbortSignal;
	/** For functions that are called directly: the context of their own tools. An agent does not set it. */
	readonly toolExecution?: unknown;
}

/** Assistant messages and, after those with tool calls, tool messages with the results. */
export type RuntimeLlmOutput = readonly ModelMessage[];

/**
 * A function in place of a model, for code that makes the calls of the model and of its tools itself. It returns
 * assistant messages and, after those with tool calls, tool messages with the results. After an output that ends with
 * tool calls it is called again with the longer history. `history` is a copy of the conversation, including the input.
 */
export type RuntimeLlm = (context: RuntimeLlmContext) => Promise<RuntimeLlmOutput> | RuntimeLlmOutput;

/** Whether a model is such a function; a provider, which is a function too, is not. */
export function isRuntimeLlm(model: unknown): model is RuntimeLlm {
	if (typeof model !== "function") return false;
	const provider = model as { modalities?: unknown; languageModel?: unknown };
	return provider.modalities === undefined && typeof provider.languageModel !== "function";
}

// Loaded with the first function that is asked, and kept: an import() costs microseconds even then.
let asking: typeof import("./ask-runtime-llm.ts") | undefined;

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
		request: (messages, { signal }) => ({
			messages: typeof messages === "function" ? messages() : messages,
			config: {},
			...(signal === undefined ? {} : { signal }),
		}),
	};
}
