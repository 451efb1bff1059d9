// Adapts any LLMInstance for the engine. Built-in instances wrap a model, which is asked directly so that the engine runs
// the tools. Any other instance may run its own tools: their record precedes its answer.
import {
	type AssistantMessage,
	asMessage,
	asMessages,
	type BoundLLMModel,
	bindModel,
	emptyUsage,
	isToolResultMessage,
	type LLMCapabilities,
	type LLMInstance,
	type LLMOptions,
	type LLMRequest,
	type LLMResponse,
	type LLMStreamResult,
	llmOptionsOf,
	type Message,
	type StreamResult,
	type ToolCall,
	type ToolExecution,
	type ToolResult,
	type ToolUseStrategy,
	type Turn,
	UserMessage,
} from "@holdfast/upp";
import type { EngineModel, EngineResponse } from "../engine/index.ts";
import { type Ports, systemPorts } from "../host/index.ts";
import type { ToolContext, ToolSet } from "../tools/index.ts";

/** The model behind an instance. */
export interface InstanceBacking {
	readonly model: EngineModel;
	readonly toolStrategy: ToolUseStrategy;
	readonly ports: Ports;
	/** The tool call in which the agent itself runs, if it is a sub-agent. */
	readonly parentContext?: ToolContext;
	/** Its own tools, for contexts without any. */
	readonly tools?: ToolSet;
}

interface Known extends Pick<LLMInstance, "generate" | "stream"> {
	readonly backing: InstanceBacking;
}

/** Instances created by agents, with the underlying models. */
const known = new WeakMap<LLMInstance, Known>();

/** Remembers the model behind an instance. */
export function rememberInstance(instance: LLMInstance, backing: InstanceBacking): LLMInstance {
	const { generate, stream } = instance;
	known.set(instance, { backing, generate, stream });
	return instance;
}

/** Returns the model behind an instance; for a foreign one, or one with replaced functions, the instance itself. */
export function backingOf(instance: LLMInstance): InstanceBacking {
	const own = known.get(instance);
	if (own !== undefined) {
		const isWhole = own.generate === instance.generate && own.stream === instance.stream;
		return isWhole ? own.backing : { ...own.backing, model: foreignModel(instance), tools: [] };
	}
	const options = llmOptionsOf(instance);
	if (options === undefined) return { model: foreignModel(instance), toolStrategy: {}, ports: systemPorts };
	return {
		model: boundModel(options),
		toolStrategy: options.toolStrategy ?? {},
		ports: systemPorts,
		...(options.tools === undefined ? {} : { tools: options.tools }),
	};
}

/** Returns the model of an `llm()` instance, with its options. A signal among them still applies. */
function boundModel(options: LLMOptions): EngineModel {
	const { model, request } = bindModel(options);
	const { signal } = options as { signal?: AbortSignal };
	if (signal === undefined) return { model, request };
	return {
		model,
		request(messages, extra) {
			const both = extra.signal === undefined ? signal : AbortSignal.any([signal, extra.signal]);
			return request(messages, { ...extra, signal: both });
		},
	};
}

const anything: LLMCapabilities = {
	streaming: false,
	tools: true,
	structuredOutput: true,
	imageInput: true,
	videoInput: true,
	audioInput: true,
};

/** Wraps an instance that is called directly and runs its tools itself. */
export function foreignModel(instance: LLMInstance): EngineModel {
	const model: BoundLLMModel = {
		modelId: instance.model?.modelId ?? "llm",
		capabilities: {
			...(instance.capabilities ?? anything),
			streaming: typeof instance.stream === "function",
		},
		complete: async (request) => responseOf(request, await instance.generate(...parts(request))),
		stream: (request) => streamOf(request, instance.stream(...parts(request))),
	};
	return {
		model,
		request(messages, { signal, structure }) {
			return {
				messages: typeof messages === "function" ? messages() : messages,
				config: {},
				...(signal === undefined ? {} : { signal }),
				...(structure === undefined ? {} : { structure }),
			};
		},
	};
}

/**
 * The last message is the input, the earlier ones are the history. A schema is passed as text, because an instance
 * accepts it in no other way.
 */
function parts({ messages, structure }: LLMRequest): [readonly Message[], ...Message[]] {
	const input = messages.at(-1) as Message;
	if (structure === undefined) return [messages.slice(0, -1), input];
	const schema = `Answer with JSON of this schema and nothing else: ${JSON.stringify(structure)}`;
	return [messages.slice(0, -1), input, new UserMessage(schema)];
}

function responseOf(request: LLMRequest, turn: Turn): EngineResponse {
	const { messages = [], toolExecutions: executions = [] } = turn;
	const response = asMessage(turn.response) as AssistantMessage;
	const given = new Set(request.messages.map((message) => message.id));
	const all = asMessages(messages) ?? messages;
	const produced = all.filter((message) => !given.has(message.id));
	const at = produced.findIndex((message) => message.id === response.id);
	const preceding = at < 0 ? produced : produced.slice(0, at);
	const results = resultsOf(response.toolCalls ?? [], produced, executions);
	return {
		message: response,
		usage: turn.usage ?? emptyUsage(),
		stopReason: response.hasToolCalls ? "tool_calls" : "stop",
		...(turn.data === undefined ? {} : { data: turn.data }),
		...(preceding.length === 0 && executions.length === 0 ? {} : { preceding, executions }),
		...(results === undefined ? {} : { results }),
	};
}

/** Returns the results of the answer's own calls, if the instance has run those too. */
function resultsOf(
	calls: readonly ToolCall[],
	produced: readonly Message[],
	executions: readonly ToolExecution[],
): readonly ToolResult[] | undefined {
	const known = new Map<string, ToolResult>();
	for (const { toolCallId, result, isError } of executions)
		known.set(toolCallId, { toolCallId, result, isError });
	for (const message of produced) {
		if (isToolResultMessage(message)) for (const each of message.results) known.set(each.toolCallId, each);
	}
	if (!calls.some((call) => known.has(call.toolCallId))) return undefined;
	const none = { result: "This call has no result.", isError: true };
	return calls.map(({ toolCallId }) => known.get(toolCallId) ?? { toolCallId, ...none });
}

function streamOf(request: LLMRequest, stream: StreamResult): LLMStreamResult {
	const abort = (): void => stream.abort?.();
	request.signal?.addEventListener("abort", abort, { once: true });
	const response: Promise<LLMResponse> = stream.turn.then((turn) => responseOf(request, turn));
	response.catch(() => {}).finally(() => request.signal?.removeEventListener("abort", abort));
	return { response, [Symbol.asyncIterator]: () => stream[Symbol.asyncIterator]() };
}
