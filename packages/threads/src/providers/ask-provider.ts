// Adapts one call of a provider to a model call of the engine: its pieces become stream events, its end becomes an
// answer. Everything a provider sends is validated; a stream that ends before `finish` is a failed call.
import {
	type AssistantContent,
	AssistantMessage,
	EventStream,
	isHoldfastError,
	isUPPError,
	type LLMResponse,
	type MessageOptions,
	messageOf,
	type ReasoningBlock,
	type StopReason,
	type StreamDelta,
	type StreamEvent,
	type TokenUsage,
	type ToolCall,
	UPPError,
} from "@holdfast/upp";
import type {
	ProviderFinishReason,
	ProviderInstance,
	ProviderRequest,
	ProviderResponse,
	ProviderStreamChunk,
	ProviderUsage,
} from "../types/index.ts";

/** The name under which messages and calls store data that a provider needs back. */
export const providerKey = "threads-provider";

/** The fields of an answer's message that the caller provides. */
export interface AnswerMessage {
	readonly id: string;
	/** Returns its metadata, including the data that the provider needs back. */
	metadata(usage: TokenUsage, others: AssistantMessage["metadata"]): AssistantMessage["metadata"];
	/** Called with the provider's original response. Must not throw. */
	answered?(answer: ProviderResponse): void;
}

/** Requests a complete answer. Rejects with a UPPError. */
export async function generateWith(
	provider: ProviderInstance,
	request: ProviderRequest,
	made?: AnswerMessage,
	heard?: (answer: unknown) => void,
): Promise<LLMResponse> {
	try {
		const answer = await provider.generate(request);
		heard?.(answer);
		return responseOf(answer, made);
	} catch (error) {
		throw providerFailure(error, provider.name, request.signal);
	}
}

/** Requests an answer in pieces. Its result rejects with a UPPError. */
export function streamWith(provider: ProviderInstance, request: ProviderRequest): EventStream<LLMResponse> {
	return new EventStream<LLMResponse>((target) =>
		streamInto(provider, request, (event) => target.push(event)),
	);
}

/** Requests a streamed answer and forwards its pieces as they arrive. Rejects with a UPPError. */
export async function streamInto(
	provider: ProviderInstance,
	request: ProviderRequest,
	emit: (event: StreamEvent) => void,
	made?: AnswerMessage,
	heard?: (chunk: unknown) => void,
): Promise<LLMResponse> {
	try {
		const { signal } = request;
		const gathered = new GatheredAnswer(emit);
		const given = provider.stream(request);
		for await (const chunk of given instanceof Promise ? await given : given) {
			signal?.throwIfAborted();
			heard?.(chunk);
			gathered.add(chunk);
		}
		return responseOf(gathered.response(), made);
	} catch (error) {
		throw providerFailure(error, provider.name, request.signal);
	}
}

/** Assembles the pieces of an answer: calls by id, in any order. */
class GatheredAnswer {
	readonly #emit: (event: StreamEvent) => void;
	#text = "";
	#reasoning = "";
	readonly #calls: GatheredCall[] = [];
	/** Used from the second call on. */
	#callsById: Map<string, GatheredCall> | undefined;
	#images: ProviderResponse["images"];
	#webSearches: ProviderResponse["webSearches"];
	#tools: ProviderResponse["providerTools"];
	#finish: Extract<ProviderStreamChunk, { type: "finish" }> | undefined;

	constructor(emit: (event: StreamEvent) => void) {
		this.#emit = emit;
		emit({ type: "message_start", index: 0, delta: {} });
	}

	add(chunk: ProviderStreamChunk): void {
		switch (chunk.type) {
			case "content-delta":
				this.#text += chunk.delta;
				this.#push("text_delta", { text: chunk.delta });
				return;
			case "reasoning-delta":
				this.#reasoning += chunk.delta;
				this.#push("reasoning_delta", { text: chunk.delta });
				return;
			case "tool-call-start": {
				const call = this.#begun(chunk.id, chunk.name);
				if (chunk.extraContent !== undefined) call.extraContent = chunk.extraContent;
				const { id: toolCallId, name: toolName } = chunk;
				this.#push("tool_call_delta", { toolCallId, toolName, argumentsJson: "" });
				return;
			}
			case "tool-call-delta": {
				this.#call(chunk.id).text += chunk.argumentsDelta;
				this.#push("tool_call_delta", {
					toolCallId: chunk.id,
					argumentsJson: chunk.argumentsDelta,
				});
				return;
			}
			case "tool-call-done": {
				const call = this.#call(chunk.id);
				call.arguments = chunk.arguments;
				if (chunk.extraContent !== undefined) call.extraContent = chunk.extraContent;
				return;
			}
			case "image-done":
				this.#images ??= [];
				this.#images.push(chunk.image);
				return;
			case "web-search-done":
				this.#webSearches ??= [];
				this.#webSearches.push(chunk.result);
				return;
			case "provider-tool-done":
				this.#tools ??= [];
				this.#tools.push(chunk.tool);
				return;
			case "error":
				throw Object.assign(new Error(chunk.error), { code: chunk.code ?? "unknown" });
			case "finish":
				this.#finish = chunk;
				return;
			default:
				return; // a chunk type of a later version of the interface
		}
	}

	/** Returns the complete answer. Throws if the stream ended before `finish`. */
	response(): ProviderResponse {
		if (this.#finish === undefined)
			throw Object.assign(new Error("The stream ended before the answer was finished."), {
				code: "server_error",
			});
		const { finishReason, usage, reasoningDetails, metadata } = this.#finish;
		this.#emit({ type: "message_stop", index: 0, delta: {} });
		return {
			content: this.#text === "" ? null : this.#text,
			...(this.#reasoning === "" ? {} : { reasoning: this.#reasoning }),
			...(reasoningDetails === undefined ? {} : { reasoningDetails }),
			toolCalls: this.#calls.map(({ id, name, text, arguments: given, extraContent }) => ({
				id,
				name,
				// Complete arguments take precedence over the pieces; unreadable ones are answered with an error.
				arguments: (given ?? text) as Record<string, unknown>,
				...(extraContent === undefined ? {} : { extraContent }),
			})),
			...(this.#images === undefined ? {} : { images: this.#images }),
			...(this.#webSearches === undefined ? {} : { webSearches: this.#webSearches }),
			...(this.#tools === undefined ? {} : { providerTools: this.#tools }),
			finishReason,
			usage,
			...(metadata === undefined ? {} : { metadata }),
		};
	}

	/** Returns the call that starts. Models repeat ids: after a complete call, the same id starts another one. */
	#begun(id: string, name: string): GatheredCall {
		const known = this.#known(id);
		const call = known === undefined || known.arguments !== undefined ? this.#added(id) : known;
		call.name = name;
		return call;
	}

	#call(id: string): GatheredCall {
		return this.#known(id) ?? this.#added(id);
	}

	/** Returns the last call with an id. */
	#known(id: string): GatheredCall | undefined {
		const [first] = this.#calls;
		return this.#callsById?.get(id) ?? (first?.id === id ? first : undefined);
	}

	#added(id: string): GatheredCall {
		const call: GatheredCall = { id, name: "", text: "" };
		if (this.#calls.length > 0) {
			this.#callsById ??= new Map();
			this.#callsById.set(id, call);
		}
		this.#calls.push(call);
		return call;
	}

	#push(type: StreamEvent["type"], delta: StreamDelta): void {
		this.#emit({ type, index: 0, delta });
	}
}

interface GatheredCall {
	readonly id: string;
	name: string;
	text: string;
	arguments?: Record<string, unknown>;
	extraContent?: Record<string, unknown>;
}

/** Returns a provider's answer in the engine's form, the same for streamed and complete ones. */
function responseOf(answer: ProviderResponse, made: AnswerMessage | undefined): LLMResponse {
	made?.answered?.(answer);
	const content: AssistantContent[] = [];
	const details = answer.reasoningDetails;
	if ((answer.reasoning ?? "") !== "" || (details?.length ?? 0) > 0) {
		const block: ReasoningBlock = { type: "reasoning", text: answer.reasoning ?? "" };
		if (details !== undefined) block.metadata = { [providerKey]: { reasoningDetails: details } };
		content.push(block);
	}
	if ((answer.content ?? "") !== "") content.push({ type: "text", text: answer.content ?? "" });
	for (const { data, mediaType } of answer.images ?? [])
		content.push({
			type: "image",
			source: { type: "base64", data: data.replace(/^data:[^,]*,/, "") },
			mimeType: mediaType,
		});
	const calls = (answer.toolCalls ?? []).map(callOf);
	const about: Record<string, unknown> = {};
	if ((answer.providerTools?.length ?? 0) > 0)
		about.providerTools = answer.providerTools?.map((tool) => ({ ...tool, type: tool.name }));
	if ((answer.webSearches?.length ?? 0) > 0) about.webSearches = answer.webSearches;
	if (answer.metadata !== undefined) about.metadata = answer.metadata;
	const usage = usageOf(answer.usage);
	const others = Object.keys(about).length === 0 ? undefined : { [providerKey]: about };
	const metadata = made === undefined ? others : made.metadata(usage, others);
	const options: MessageOptions = {};
	if (made !== undefined) options.id = made.id;
	if (metadata !== undefined) options.metadata = metadata;
	const message = new AssistantMessage(content, calls.length === 0 ? undefined : calls, options);
	return { message, usage, stopReason: stopReasonOf(answer.finishReason) };
}

function callOf({
	id,
	name,
	arguments: given,
	extraContent,
}: NonNullable<ProviderResponse["toolCalls"]>[number]): ToolCall {
	const call: ToolCall = { toolCallId: id, toolName: name, ...argumentsOf(given) };
	if (extraContent !== undefined) call.metadata = { [providerKey]: { extraContent } };
	return call;
}

/** Returns the arguments, or an empty object and the text that was not a JSON object. */
function argumentsOf(given: unknown): Pick<ToolCall, "arguments" | "invalidArguments"> {
	if (isRecord(given)) return { arguments: given };
	const text = typeof given === "string" ? given.trim() : (JSON.stringify(given ?? null) ?? "");
	if (text === "" || given === null || given === undefined) return { arguments: {} };
	try {
		const parsed: unknown = JSON.parse(text);
		if (isRecord(parsed)) return { arguments: parsed };
	} catch {
		// The code that answers the call reports this to the model.
	}
	return { arguments: {}, invalidArguments: text };
}

function isRecord(value: unknown): value is Record<string, unknown> {
	return typeof value === "object" && value !== null && !Array.isArray(value);
}

function usageOf(usage: ProviderUsage | undefined): TokenUsage {
	const { promptTokens = 0, completionTokens = 0, totalTokens, cachedTokens } = usage ?? {};
	return {
		inputTokens: promptTokens,
		outputTokens: completionTokens,
		totalTokens: totalTokens ?? promptTokens + completionTokens,
		...(cachedTokens === undefined ? {} : { cacheReadTokens: cachedTokens }),
	} as TokenUsage;
}

function stopReasonOf(reason: ProviderFinishReason): StopReason {
	const known: readonly string[] = ["stop", "tool_calls", "length", "content_filter"];
	return known.includes(reason) ? reason : "other";
}

const codes: Readonly<Record<string, UPPError["code"]>> = {
	rate_limit: "RATE_LIMITED",
	auth_error: "AUTHENTICATION_FAILED",
	invalid_request: "INVALID_REQUEST",
	timeout: "TIMEOUT",
};

/** Converts an error thrown by a provider into an error of the model layer. */
export function providerFailure(error: unknown, provider: string, signal?: AbortSignal): UPPError {
	if (isUPPError(error)) return error;
	const message = messageOf(error);
	if (signal?.aborted === true) return new UPPError(message, "CANCELLED", provider, "llm", undefined, error);
	const { code, statusCode, retryAfter } = (error ?? {}) as {
		code?: string;
		statusCode?: number;
		retryAfter?: number;
	};
	if (isHoldfastError(error) && code !== undefined && !isProviderCode(code)) throw error;
	const status = statusCode ?? (code === "server_error" ? 500 : undefined);
	const failure = new UPPError(
		message,
		codes[code ?? ""] ?? "PROVIDER_ERROR",
		provider,
		"llm",
		status,
		error,
	);
	if (typeof retryAfter === "number") failure.retryAfterMs = retryAfter;
	return failure;
}

function isProviderCode(code: string): boolean {
	return Object.hasOwn(codes, code) || code === "server_error" || code === "unknown";
}
