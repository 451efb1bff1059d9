// Collects the parts of an AI SDK answer, streamed or complete, into one AssistantMessage, and emits stream events. One
// collector serves one answer. Each part is validated before it is used.

import {
	type AssistantContent,
	AssistantMessage,
	type ProviderMetadata,
	type ToolCall,
} from "../messages/index.ts";
import type { LLMResponse } from "../model/index.ts";
import type { StreamDelta, StreamEvent, StreamEventType } from "../stream/index.ts";
import { emptyUsage, sumUsage, type TokenUsage } from "../turn/index.ts";
import { AnswerCalls } from "./answer-calls.ts";
import type { Carried, Source } from "./carried.ts";
import { fileBlock } from "./file-parts.ts";
import { GrowingMetadata } from "./growing-metadata.ts";
import type { AISDKFinishReason, AISDKMetadata, PromptPart, StreamPart } from "./language-model-types.ts";
import { type OpenBlock, OpenBlocks } from "./open-blocks.ts";
import { toStopReason, toUsage } from "./outcome.ts";
import type { RenamedTool, RenamedTools } from "./wire-tools.ts";

/** Receives events as they occur. */
export type Emit = (event: StreamEvent) => void;

export class Answer {
	/** Why the model stopped, once it has reported it. */
	finishReason: AISDKFinishReason | undefined;
	readonly #emit: Emit;
	readonly #renamed: RenamedTools;
	readonly #provider: string | undefined;
	readonly #textEvent: StreamEventType;
	readonly #content: AssistantContent[] = [];
	readonly #carried: Carried = {};
	#calls: AnswerCalls | undefined;
	/** Calls whose arguments are emitted only once complete, because the provider streams them under other names. */
	#unshown: Set<string> | undefined;
	#open: OpenBlocks | undefined;
	#metadata: GrowingMetadata | undefined;
	#usage: TokenUsage | undefined;

	/** `structured` answers are emitted as `object_delta` events, others as `text_delta`. */
	constructor(emit: Emit, kind: "text" | "structured", renamed: RenamedTools = new Map(), provider?: string) {
		this.#provider = provider;
		this.#emit = emit;
		this.#renamed = renamed;
		this.#textEvent = kind === "structured" ? "object_delta" : "text_delta";
	}

	/**
	 * Processes the next part of the stream. Ignores parts of unknown types.
	 * @throws TypeError for a part with members of the wrong type.
	 */
	take(part: StreamPart): void {
		switch (part.type) {
			case "text-start":
				this.#start(part, "text");
				break;
			case "reasoning-start":
				this.#start(part, "reasoning");
				break;
			case "text-delta":
				this.#grow(part, "text", this.#textEvent);
				break;
			case "reasoning-delta":
				this.#grow(part, "reasoning", "reasoning_delta");
				break;
			case "text-end":
				this.#end(part, "text");
				break;
			case "reasoning-end":
				this.#end(part, "reasoning");
				break;
			case "tool-input-start":
				this.#startCall(part);
				break;
			case "tool-input-delta":
				this.#growCall(part);
				break;
			case "tool-call":
				this.#call(part);
				break;
			case "tool-result":
				this.#providerResult(part);
				break;
			case "tool-approval-request":
				this.#approval(part);
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
				if (typeof part.id === "string") this.#carried.responseId = part.id;
				if (typeof part.modelId === "string") this.#carried.modelId = part.modelId;
				break;
			case "finish":
				this.#usage =
					this.#usage === undefined ? toUsage(part.usage) : sumUsage(this.#usage, toUsage(part.usage));
				this.finishReason = part.finishReason;
				this.#metadata ??= new GrowingMetadata();
				this.#metadata.add(part.providerMetadata);
		}
	}

	/** Returns the whole answer. */
	finish(): LLMResponse {
		if (this.#open !== undefined) for (const open of this.#open.all()) this.#close(open);
		const places = this.#calls?.places(this.#content.length);
		if (places !== undefined) this.#carried.callPlaces = places;
		const upp = this.#carried as Record<string, unknown>;
		const metadata = { ...this.#metadata?.value, upp };
		const toolCalls = this.#calls?.list();
		const message = new AssistantMessage(this.#content, toolCalls, { metadata });
		const reason = toStopReason(this.finishReason);
		const stopReason =
			toolCalls !== undefined && (reason === "stop" || reason === "other") ? "tool_calls" : reason;
		return { message, usage: this.#usage ?? emptyUsage(), stopReason };
	}

	/** Whether the provider has paused a long turn. It continues once it receives its output so far. */
	get isPaused(): boolean {
		const reason = this.finishReason;
		return typeof reason === "object" && reason.raw === "pause_turn" && this.#calls === undefined;
	}

	/** Returns the message so far. Later parts are added to the same answer. */
	soFar(): AssistantMessage {
		const { message } = this.finish();
		this.#open = undefined;
		this.#metadata = new GrowingMetadata(this.#metadata?.value);
		const metadata = { ...message.metadata, upp: { ...this.#carried } as Record<string, unknown> };
		return new AssistantMessage([...message.content], undefined, { metadata });
	}

	#start(part: StreamPart, type: "text" | "reasoning"): OpenBlock {
		const open: OpenBlock = { block: { type, text: "" }, metadata: new GrowingMetadata(), index: -1 };
		addMetadata(open, part.providerMetadata);
		this.#open ??= new OpenBlocks();
		this.#open.begin(part.id, open);
		return open;
	}

	#grow(part: StreamPart, type: "text" | "reasoning", event: StreamEventType): void {
		const open = this.#open?.last(part.id, type) ?? this.#start(part, type);
		const text = textOf(part, "delta");
		addMetadata(open, part.providerMetadata);
		if (text === "") return;
		if (open.index < 0) this.#keep(open);
		open.block.text += text;
		this.#emitEvent(event, open.index, { text });
	}

	#end(part: StreamPart, type: "text" | "reasoning"): void {
		const open = this.#open?.end(part.id, type);
		if (open === undefined) return;
		addMetadata(open, part.providerMetadata);
		this.#close(open);
	}

	// Empty reasoning with metadata is kept, because redacted and encrypted thinking must be sent back. Empty text is
	// not.
	#close(open: OpenBlock): void {
		if (open.index < 0 && open.block.type === "reasoning" && open.block.metadata !== undefined)
			this.#keep(open);
		if (open.index >= 0) this.#emitEvent("content_block_stop", open.index, {});
	}

	#keep(open: OpenBlock): void {
		open.index = this.#content.push(open.block) - 1;
		this.#emitEvent("content_block_start", open.index, {});
	}

	#beginCall(toolCallId: string, toolName: string, argumentsJson: string): AnswerCalls {
		let calls = this.#calls;
		let index = 0;
		if (calls === undefined) {
			calls = new AnswerCalls(toolCallId);
			this.#calls = calls;
		} else {
			const known = calls.indexOf(toolCallId);
			index = known < 0 ? calls.begin(toolCallId) : known;
		}
		this.#emitEvent("tool_call_delta", index, { toolCallId, toolName, argumentsJson });
		return calls;
	}

	#startCall(part: StreamPart): void {
		if (part.providerExecuted) return;
		const toolCallId = textOf(part, "id");
		if (this.#ownProperties(part) !== undefined) {
			this.#unshown ??= new Set();
			this.#unshown.add(toolCallId);
		} else this.#beginCall(toolCallId, this.#nameOf(part), "");
	}

	#growCall(part: StreamPart): void {
		const toolCallId = textOf(part, "id");
		if (this.#unshown?.has(toolCallId)) return;
		const index = this.#calls?.indexOf(toolCallId) ?? -1;
		if (index < 0) return;
		this.#emitEvent("tool_call_delta", index, { toolCallId, argumentsJson: textOf(part, "delta") });
	}

	#call(part: StreamPart): void {
		const toolCallId = textOf(part, "toolCallId");
		const toolName = this.#nameOf(part);
		const { value: given, invalid } = readArguments(part.input);
		const own = this.#ownProperties(part);
		const value = own === undefined ? given : underOwnNames(given, own);
		if (part.providerExecuted) {
			this.#place({ type: "tool-call", toolCallId, toolName, input: value, providerExecuted: true }, part);
			return;
		}
		let calls = this.#calls;
		if (calls === undefined || calls.indexOf(toolCallId) < 0) {
			calls = this.#beginCall(
				toolCallId,
				toolName,
				typeof part.input === "string" && own === undefined ? part.input : JSON.stringify(value),
			);
		}
		const call: ToolCall = { toolCallId, toolName, arguments: value };
		if (invalid !== undefined) call.invalidArguments = invalid;
		if (part.providerMetadata !== undefined) call.metadata = part.providerMetadata;
		calls.add(call, this.#content.length);
	}

	/** The provider asks before it runs a tool: its call becomes a call of the session, whose result is the decision. */
	#approval({ approvalId, toolCallId = "", providerMetadata }: StreamPart): void {
		const { parts = [] } = this.#carried;
		const at = parts.findLastIndex(({ part }) => part.type === "tool-call" && part.toolCallId === toolCallId);
		if (at < 0 || typeof approvalId !== "string")
			throw new TypeError("a tool-approval-request names no earlier call");
		const [asked] = parts.splice(at, 1) as [(typeof parts)[number]];
		if (parts.length === 0) delete this.#carried.parts;
		const { toolName = "", input, providerOptions } = asked.part;
		const calls = this.#beginCall(toolCallId, toolName, JSON.stringify(input));
		const call: ToolCall = { toolCallId, toolName, arguments: input as Record<string, unknown>, approvalId };
		if (this.#provider !== undefined) call.approvalProvider = this.#provider;
		const metadata = providerOptions ?? providerMetadata;
		if (metadata !== undefined) call.metadata = metadata as ProviderMetadata;
		calls.add(call, this.#content.length);
	}

	#nameOf(part: StreamPart): string {
		const name = textOf(part, "toolName");
		return this.#renamed.get(name)?.name ?? name;
	}

	#ownProperties(part: StreamPart): RenamedTool["properties"] {
		return this.#renamed.size === 0 ? undefined : this.#renamed.get(textOf(part, "toolName"))?.properties;
	}

	#providerResult(part: StreamPart): void {
		if (part.preliminary) return;
		const { toolCallId = "", toolName = "", result, isError } = part;
		const output = { type: isError ? "error-json" : "json", value: result };
		this.#place({ type: "tool-result", toolCallId, toolName, output }, part);
	}

	#custom(part: StreamPart): void {
		const { kind } = part;
		// Marks the start of a message; it is never sent back and would only enlarge the stored message.
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
		this.#emitEvent("content_block_start", index, {});
		if (block.type === "image" && block.source.type === "bytes") {
			this.#emitEvent("image_delta", index, { data: block.source.data });
		} else if (block.type === "audio" || block.type === "video") {
			this.#emitEvent(`${block.type}_delta`, index, { data: block.data });
		}
		this.#emitEvent("content_block_stop", index, {});
	}

	#source(part: StreamPart): void {
		const { type: _, providerMetadata: __, ...source } = part;
		this.#carried.sources ??= [];
		this.#carried.sources.push(source as unknown as Source);
	}

	#emitEvent(type: StreamEventType, index: number, delta: StreamDelta): void {
		this.#emit({ type, index, delta });
	}
}

function textOf(part: StreamPart, name: "delta" | "id" | "toolCallId" | "toolName"): string {
	const text: unknown = part[name];
	if (typeof text === "string") return text;
	if (text === undefined || text === null) return "";
	throw new TypeError(`the \`${name}\` of a ${part.type} is not a string`);
}

function underOwnNames(
	given: Record<string, unknown>,
	own: ReadonlyMap<string, string>,
): Record<string, unknown> {
	return Object.fromEntries(Object.entries(given).map(([name, value]) => [own.get(name) ?? name, value]));
}

function addMetadata({ block, metadata }: OpenBlock, added: AISDKMetadata | undefined): void {
	if (added === undefined) return;
	metadata.add(added);
	block.metadata = metadata.value as ProviderMetadata;
}

/**
 * Parses a call's arguments from the JSON text that a model wrote. Returns an empty object and the text if it is not a
 * JSON object.
 */
function readArguments(input: unknown): { value: Record<string, unknown>; invalid?: string } {
	if (isRecord(input)) return { value: input };
	const text = typeof input === "string" ? input.trim() : (JSON.stringify(input ?? undefined) ?? "");
	// For tools without parameters, models may send no text at all.
	if (text === "") return { value: {} };
	try {
		const value: unknown = JSON.parse(text);
		if (isRecord(value)) return { value };
	} catch {
		// The code that answers the call reports this to the model.
	}
	return { value: {}, invalid: text };
}

function isRecord(value: unknown): value is Record<string, unknown> {
	return typeof value === "object" && value !== null && !Array.isArray(value);
}
