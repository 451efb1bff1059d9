// Gathers the parts of an AI SDK answer, streamed or whole, into one AssistantMessage, and says what is new as
// stream events. One gatherer serves one answer.

import {
	type AssistantContent,
	AssistantMessage,
	type ProviderMetadata,
	type ReasoningBlock,
	type TextBlock,
	type ToolCall,
} from "../messages/index.ts";
import type { LLMResponse, StopReason } from "../model/index.ts";
import type { StreamDelta, StreamEvent, StreamEventType } from "../stream/index.ts";
import { emptyUsage, type TokenUsage } from "../turn/index.ts";
import type { Carried, Source } from "./carried.ts";
import { fileBlock } from "./file-parts.ts";
import type { AISDKFinishReason, AISDKMetadata, PromptPart, StreamPart } from "./language-model-types.ts";
import { toStopReason, toUsage } from "./outcome.ts";
import { readArguments } from "./read-arguments.ts";

interface OpenBlock {
	block: TextBlock | ReasoningBlock;
	/** The place in the content; -1 until there is something worth keeping. */
	index: number;
}

/** Takes events as they arise. */
export type Emit = (event: StreamEvent) => void;

export class Answer {
	/** Why the model stopped, once it has said so. */
	finishReason: AISDKFinishReason | undefined;
	readonly #emit: Emit;
	readonly #textEvent: StreamEventType;
	readonly #content: AssistantContent[] = [];
	readonly #toolCalls: ToolCall[] = [];
	readonly #callPlaces: number[] = [];
	readonly #callIndexes = new Map<string, number>();
	readonly #open = new Map<string, OpenBlock>();
	readonly #carried: Carried = {};
	#metadata: ProviderMetadata = {};
	#usage: TokenUsage = emptyUsage();

	/** `structured` answers are told as `object_delta` events, others as `text_delta`. */
	constructor(emit: Emit, kind: "text" | "structured") {
		this.#emit = emit;
		this.#textEvent = kind === "structured" ? "object_delta" : "text_delta";
	}

	/** Takes the next part of the stream. Parts of kinds it does not know are left alone. */
	take(part: StreamPart): void {
		switch (part.type) {
			case "text-start":
			case "reasoning-start":
				this.#start(part, part.type === "text-start" ? "text" : "reasoning");
				break;
			case "text-delta":
			case "reasoning-delta":
				this.#grow(part, part.type === "text-delta" ? "text" : "reasoning");
				break;
			case "text-end":
			case "reasoning-end":
				this.#end(part, part.type === "text-end" ? "text" : "reasoning");
				break;
			case "tool-input-start":
				if (!part.providerExecuted) this.#callDelta(part.id ?? "", part.toolName, "");
				break;
			case "tool-input-delta":
				if (this.#callIndexes.has(part.id ?? "")) this.#callDelta(part.id ?? "", undefined, part.delta ?? "");
				break;
			case "tool-call":
				this.#call(part);
				break;
			case "tool-result":
				this.#providerResult(part);
				break;
			case "file":
			case "reasoning-file":
				this.#file(part);
				break;
			case "source":
				this.#source(part);
				break;
			case "custom":
				this.#custom(part);
				break;
			case "response-metadata":
				if (part.id !== undefined) this.#carried.responseId = part.id;
				if (part.modelId !== undefined) this.#carried.modelId = part.modelId;
				break;
			case "finish":
				this.#usage = toUsage(part.usage);
				this.finishReason = part.finishReason;
				this.#metadata = merge(this.#metadata, part.providerMetadata) ?? this.#metadata;
		}
	}

	/** The whole answer. */
	finish(): LLMResponse {
		for (const open of this.#open.values()) this.#close(open);
		const places: Record<string, number> = {};
		this.#toolCalls.forEach((call, index) => {
			const at = this.#callPlaces[index] as number;
			if (at < this.#content.length) places[call.toolCallId] = at;
		});
		// Calls may be whole in another order than they were begun and told in.
		const begun = ({ toolCallId }: ToolCall): number => this.#callIndexes.get(toolCallId) ?? 0;
		this.#toolCalls.sort((one, other) => begun(one) - begun(other));
		if (Object.keys(places).length > 0) this.#carried.callPlaces = places;
		const metadata: ProviderMetadata = { ...this.#metadata, upp: { ...this.#carried } };
		const toolCalls = this.#toolCalls.length > 0 ? this.#toolCalls : undefined;
		const message = new AssistantMessage(this.#content, toolCalls, { metadata });
		return { message, usage: this.#usage, stopReason: this.#stopReason() };
	}

	#stopReason(): StopReason {
		const reason = toStopReason(this.finishReason);
		return this.#toolCalls.length > 0 && (reason === "stop" || reason === "other") ? "tool_calls" : reason;
	}

	#start(part: StreamPart, type: "text" | "reasoning"): void {
		const open: OpenBlock = { block: { type, text: "" }, index: -1 };
		addMetadata(open.block, part.providerMetadata);
		this.#open.set(`${type} ${part.id}`, open);
	}

	#grow(part: StreamPart, type: "text" | "reasoning"): void {
		const key = `${type} ${part.id}`;
		let open = this.#open.get(key);
		if (open === undefined) {
			this.#start(part, type);
			open = this.#open.get(key) as OpenBlock;
		}
		const text = part.delta ?? "";
		addMetadata(open.block, part.providerMetadata);
		if (text === "") return;
		if (open.index < 0) this.#keep(open);
		open.block.text += text;
		this.#tell(type === "text" ? this.#textEvent : "reasoning_delta", open.index, { text });
	}

	#end(part: StreamPart, type: "text" | "reasoning"): void {
		const key = `${type} ${part.id}`;
		const open = this.#open.get(key);
		if (open === undefined) return;
		addMetadata(open.block, part.providerMetadata);
		this.#open.delete(key);
		this.#close(open);
	}

	// Empty reasoning with metadata is kept: redacted and encrypted thinking must travel back. Empty text is not.
	#close(open: OpenBlock): void {
		if (open.index < 0 && open.block.type === "reasoning" && open.block.metadata !== undefined)
			this.#keep(open);
		if (open.index >= 0) this.#tell("content_block_stop", open.index, {});
	}

	#keep(open: OpenBlock): void {
		open.index = this.#content.push(open.block) - 1;
		this.#tell("content_block_start", open.index, {});
	}

	#callDelta(toolCallId: string, toolName: string | undefined, argumentsJson: string): void {
		let index = this.#callIndexes.get(toolCallId);
		if (index === undefined) {
			index = this.#callIndexes.size;
			this.#callIndexes.set(toolCallId, index);
		}
		const name = toolName === undefined ? {} : { toolName };
		this.#tell("tool_call_delta", index, { toolCallId, ...name, argumentsJson });
	}

	#call(part: StreamPart): void {
		const toolCallId = part.toolCallId ?? "";
		const toolName = part.toolName ?? "";
		const { value, invalid } = readArguments(part.input);
		if (part.providerExecuted) {
			this.#place({ type: "tool-call", toolCallId, toolName, input: value, providerExecuted: true }, part);
			return;
		}
		if (!this.#callIndexes.has(toolCallId)) this.#callDelta(toolCallId, toolName, part.input ?? "");
		const call: ToolCall = { toolCallId, toolName, arguments: value };
		if (invalid !== undefined) call.invalidArguments = invalid;
		if (part.providerMetadata !== undefined) call.metadata = part.providerMetadata;
		this.#toolCalls.push(call);
		this.#callPlaces.push(this.#content.length);
	}

	#providerResult(part: StreamPart): void {
		if (part.preliminary) return;
		const { toolCallId = "", toolName = "", result, isError } = part;
		const output = { type: isError ? "error-json" : "json", value: result };
		this.#place({ type: "tool-result", toolCallId, toolName, output }, part);
	}

	#custom(part: StreamPart): void {
		const { kind } = part;
		// Says that a message began; it is never sent back and would only swell what is stored.
		if (typeof kind !== "string" || kind.endsWith(".message_start")) return;
		this.#place({ type: "custom", kind }, part);
	}

	#place(placed: PromptPart, part: StreamPart): void {
		if (part.providerMetadata !== undefined) placed.providerOptions = part.providerMetadata;
		this.#carried.parts ??= [];
		this.#carried.parts.push({ at: this.#content.length, part: placed });
	}

	#file(part: StreamPart): void {
		const mimeType = part.mediaType ?? "application/octet-stream";
		const isReasoning = part.type === "reasoning-file";
		const metadata = isReasoning
			? { ...part.providerMetadata, upp: { reasoning: true } }
			: part.providerMetadata;
		const block = fileBlock(part.data, mimeType, metadata);
		const index = this.#content.push(block) - 1;
		this.#tell("content_block_start", index, {});
		if (block.type === "image" && block.source.type === "bytes") {
			this.#tell("image_delta", index, { data: block.source.data });
		} else if (block.type === "audio" || block.type === "video") {
			this.#tell(`${block.type}_delta`, index, { data: block.data });
		}
		this.#tell("content_block_stop", index, {});
	}

	#source(part: StreamPart): void {
		const { type: _, providerMetadata: __, ...source } = part;
		this.#carried.sources ??= [];
		this.#carried.sources.push(source as unknown as Source);
	}

	#tell(type: StreamEventType, index: number, delta: StreamDelta): void {
		this.#emit({ type, index, delta });
	}
}

function addMetadata(block: TextBlock | ReasoningBlock, added: AISDKMetadata | undefined): void {
	if (added !== undefined) block.metadata = merge(block.metadata, added) ?? added;
}

// Later parts add to what earlier ones said: an id comes at the start of a block, its signature at the end.
function merge(
	metadata: ProviderMetadata | undefined,
	added: AISDKMetadata | undefined,
): ProviderMetadata | undefined {
	if (metadata === undefined || added === undefined) return added ?? metadata;
	const merged: ProviderMetadata = { ...metadata };
	for (const [provider, members] of Object.entries(added))
		merged[provider] = { ...merged[provider], ...members };
	return merged;
}
