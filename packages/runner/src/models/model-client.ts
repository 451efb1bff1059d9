// Adapts any Holdfast or AI SDK model to the client interface of the runtime.
import {
	AssistantMessage,
	bindModel,
	checkOptions,
	HoldfastError,
	type LanguageModel,
	type LLMRequest,
	type LLMResponse,
	type Message,
	type ModelReference,
	type ModelTool,
	optionNames,
	ToolResultMessage,
	type UserContent,
	UserMessage,
} from "@holdfast/upp";
import type {
	ChatMessage,
	LLMClient,
	ModelCallOptions,
	ModelInfo,
	ModelResponse,
	TokenChunk,
} from "../contract/index.ts";

const modelClientNames = optionNames<ModelClientOptions>({ info: "object", deterministic: "flag" });

/** Options of a client that is created from a model. */
export interface ModelClientOptions {
	/** The description of the client's model. Default: its name, with streaming. */
	readonly info?: Partial<ModelInfo>;
	/** Whether the same prompt always gets the same answer. Default: false. */
	readonly deterministic?: boolean;
}

/**
 * Returns a client that calls a model.
 * @throws HoldfastError `invalid_model`, `provider_not_called`, `no_language_model`.
 */
export function modelClient(
	model: LanguageModel | ModelReference,
	options: ModelClientOptions = {},
): LLMClient {
	checkOptions(options, modelClientNames, { of: "modelClient()" });
	const binding = bindModel({ model });
	const closing = new AbortController();
	const closed = (): HoldfastError =>
		new HoldfastError("CLIENT_CLOSED", "This client was closed. Create another one.");
	const request = (prompt: string | readonly ChatMessage[], given: ModelCallOptions = {}): LLMRequest => {
		if (closing.signal.aborted) throw closed();
		const { messages, system, tools } = readMessages(prompt);
		const signal =
			given.signal === undefined ? closing.signal : AbortSignal.any([given.signal, closing.signal]);
		const params = paramsOf(given);
		const built = binding.request(messages, {
			signal,
			...(system === undefined ? {} : { system }),
			...(tools.length === 0 ? {} : { tools }),
			...(given.schema === undefined ? {} : { structure: given.schema as never }),
		});
		if (Object.keys(params).length > 0) built.params = { ...built.params, ...params };
		return built;
	};
	/** Hides errors that only result from closing the request. */
	const failed = (error: unknown): unknown => (closing.signal.aborted ? closed() : error);
	const responseOf = ({ message, usage, stopReason }: LLMResponse): ModelResponse => ({
		text: textOf(message),
		model: binding.model.modelId,
		finishReason: stopReason,
		...(usage.totalTokens > 0
			? { usage: { inputTokens: usage.inputTokens, outputTokens: usage.outputTokens } }
			: {}),
	});
	return {
		...(options.deterministic === true ? { deterministic: true } : {}),
		async call(prompt, given) {
			const built = request(prompt, given);
			try {
				return responseOf(await binding.model.complete(built));
			} catch (error) {
				throw failed(error);
			}
		},
		async *stream(prompt, given): AsyncGenerator<TokenChunk> {
			const controller = new AbortController();
			const signal =
				given?.signal === undefined ? controller.signal : AbortSignal.any([given.signal, controller.signal]);
			const streamed = binding.model.stream(request(prompt, { ...given, signal }));
			streamed.response.catch(() => {});
			let isOver = false;
			try {
				let text = "";
				for await (const event of streamed) {
					if (event.type !== "text_delta") continue;
					const piece = event.delta.text ?? "";
					text += piece;
					if (piece !== "") yield { text: piece };
				}
				const response = responseOf(await streamed.response);
				isOver = true;
				const rest = response.text.startsWith(text) ? response.text.slice(text.length) : "";
				const { usage } = response;
				yield { text: rest, model: binding.model.modelId, ...(usage === undefined ? {} : { usage }) };
			} catch (error) {
				throw failed(error);
			} finally {
				if (!isOver) controller.abort();
			}
		},
		getModelInfo: async () => ({ name: binding.model.modelId, supportsStreaming: true, ...options.info }),
		close: async () => closing.abort(closed()),
	};
}

/** Returns the parameters under the names of the model layer. */
function paramsOf({ maxTokens, temperature, seed }: ModelCallOptions): Record<string, unknown> {
	return {
		...(maxTokens === undefined ? {} : { maxOutputTokens: maxTokens }),
		...(temperature === undefined ? {} : { temperature }),
		...(seed === undefined ? {} : { seed }),
	};
}

/** Returns the text of an answer. If the model called a tool that it saw in the history, it meant to plan that call. */
function textOf(message: AssistantMessage): string {
	const [call] = message.toolCalls ?? [];
	if (message.text !== "" || call === undefined) return message.text;
	return JSON.stringify({ type: "tool", toolId: call.toolName, input: call.arguments });
}

interface ReadMessages {
	readonly messages: readonly Message[];
	readonly system: string | undefined;
	/** Tools called in the history: providers require their definitions. */
	readonly tools: readonly ModelTool[];
}

/** Converts a prompt to the form of the model layer: a string is one user message. */
function readMessages(prompt: string | readonly ChatMessage[]): ReadMessages {
	const given: readonly ChatMessage[] =
		typeof prompt === "string" ? [{ role: "user", content: prompt }] : prompt;
	const messages: Message[] = [];
	const system: string[] = [];
	const tools = new Map<string, ModelTool>();
	for (const { role, content, toolId = "tool" } of given) {
		switch (role) {
			case "system":
				system.push(plain(content));
				break;
			case "user":
				messages.push(new UserMessage(typeof content === "string" ? content : content.map(blockOf)));
				break;
			case "assistant":
				messages.push(new AssistantMessage(plain(content)));
				break;
			case "tool": {
				const toolName = toolId.replace(/[^\w-]/g, "_").slice(0, 64) || "tool";
				const toolCallId = `call_${messages.length}`;
				const call = { toolCallId, toolName, arguments: {} };
				messages.push(
					new AssistantMessage("", [call]),
					new ToolResultMessage([{ toolCallId, result: plain(content) }]),
				);
				tools.set(toolName, {
					name: toolName,
					description: "",
					parameters: { type: "object", properties: {} },
				});
			}
		}
	}
	return {
		messages,
		system: system.length === 0 ? undefined : system.join("\n\n"),
		tools: [...tools.values()],
	};
}

function plain(content: ChatMessage["content"]): string {
	if (typeof content === "string") return content;
	return content.map((part) => (part.type === "text" ? part.text : `[${part.mediaType}]`)).join("\n");
}

function blockOf(part: Exclude<ChatMessage["content"], string>[number]): UserContent {
	if (part.type === "text") return { type: "text", text: part.text };
	return { type: "image", source: { type: "base64", data: part.data }, mimeType: part.mediaType };
}
