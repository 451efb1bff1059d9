// Any LLMInstance as a model the engine can ask, also one that runs tools itself: what it did stands before its answer.
import type {
	BoundLLMModel,
	LLMCapabilities,
	LLMInstance,
	LLMRequest,
	LLMResponse,
	LLMStreamResult,
	Message,
	StreamResult,
	Turn,
} from "@holdfast/upp";
import type { EngineModel, EngineResponse } from "../engine/index.ts";

/** Instances the house made itself, with the model behind them: those are asked directly. */
const known = new WeakMap<LLMInstance, EngineModel>();

/** Remembers the model behind an instance. */
export function rememberInstance(instance: LLMInstance, model: EngineModel): LLMInstance {
	known.set(instance, model);
	return instance;
}

/** The model behind an instance, or the instance as a model. */
export function modelOf(instance: LLMInstance): EngineModel {
	const own = known.get(instance);
	if (own !== undefined) return own;
	const capabilities: LLMCapabilities = instance.capabilities ?? {
		streaming: false,
		tools: true,
		structuredOutput: true,
		imageInput: true,
		videoInput: true,
		audioInput: true,
	};
	const model: BoundLLMModel = {
		modelId: instance.model?.modelId ?? "llm",
		capabilities: { ...capabilities, streaming: typeof instance.stream === "function" },
		complete: async (request) => responseOf(request, await instance.generate(...parts(request))),
		stream: (request) => streamOf(request, instance.stream(...parts(request))),
	};
	return {
		model,
		request: (messages, extra) => {
			const request = {
				messages: typeof messages === "function" ? messages() : messages,
				config: {},
			} as LLMRequest;
			return extra.signal === undefined ? request : { ...request, signal: extra.signal };
		},
	};
}

/** The last message is the input, those before it the history. */
function parts(request: LLMRequest): [readonly Message[], Message] {
	return [request.messages.slice(0, -1), request.messages.at(-1) as Message];
}

function responseOf(request: LLMRequest, turn: Turn): EngineResponse {
	const given = new Set(request.messages.map((message) => message.id));
	const produced = turn.messages.filter((message) => !given.has(message.id));
	const preceding = produced.filter((message) => message.id !== turn.response.id);
	return {
		message: turn.response,
		usage: turn.usage,
		stopReason: turn.response.hasToolCalls ? "tool_calls" : "stop",
		...(turn.data === undefined ? {} : { data: turn.data }),
		...(preceding.length === 0 ? {} : { preceding, executions: turn.toolExecutions }),
	};
}

function streamOf(request: LLMRequest, stream: StreamResult): LLMStreamResult {
	const abort = (): void => stream.abort?.();
	request.signal?.addEventListener("abort", abort, { once: true });
	const response: Promise<LLMResponse> = stream.turn.then((turn) => responseOf(request, turn));
	response.catch(() => {}).finally(() => request.signal?.removeEventListener("abort", abort));
	return { response, [Symbol.asyncIterator]: () => stream[Symbol.asyncIterator]() };
}
