// Adapts what the AI SDK's tools expect beyond arguments: options under its names, messages in its format, its approval
// function, and `toModelOutput`, which converts an output for the model.

import {
	type AnyMessage,
	type ContentBlock,
	type DocumentSource,
	isMessage,
	type ProviderMetadata,
	type ToolResult,
} from "@holdfast/upp";
import { bytesToBase64, plainDetails, plainJson } from "./plain-json.ts";
import type { EngineTool, ToolContext, ToolOutcome } from "./types.ts";

/** The second argument of the AI SDK's `execute`. `context` is Holdfast's full context. */
export function aiSdkOptions(context: ToolContext): object {
	return {
		toolCallId: context.toolCallId,
		abortSignal: context.signal,
		get messages() {
			return toModelMessages(context.messages);
		},
		context,
		experimental_context: context,
	};
}

/** Converts an outcome with `toModelOutput` for the model. Watchers get the tool's own output as details. */
export async function aiSdkOutcome(
	toModelOutput: NonNullable<EngineTool["toModelOutput"]>,
	call: { readonly toolCallId: string; readonly input: unknown },
	outcome: ToolOutcome,
): Promise<ToolOutcome> {
	const shown = (await toModelOutput({ ...call, output: outcome.output })) as ModelOutput;
	const denied = shown.type === "execution-denied";
	const { providerOptions } = shown;
	return {
		output: plainJson(outputOf(shown)),
		details: plainDetails(outcome.output),
		isError: denied || shown.type.startsWith("error"),
		...(denied ? { denied } : {}),
		...(providerOptions === undefined ? {} : { metadata: plainJson(providerOptions) as ProviderMetadata }),
	};
}

type ModelOutput = { readonly providerOptions?: ProviderMetadata } & (
	| { readonly type: "text" | "json" | "error-text" | "error-json"; readonly value: unknown }
	| { readonly type: "content"; readonly value: readonly OutputPart[] }
	| { readonly type: "execution-denied"; readonly reason?: string }
);

interface OutputPart {
	readonly type: string;
	readonly text?: unknown;
	readonly data?: unknown;
	readonly url?: unknown;
	readonly fileId?: unknown;
	readonly mediaType?: string;
	readonly filename?: string;
	readonly providerOptions?: ProviderMetadata;
}

function outputOf(shown: ModelOutput): unknown {
	if (shown.type === "execution-denied") return shown.reason ?? "";
	if (shown.type !== "content") return shown.value;
	const blocks = shown.value.map(blockOf);
	const isPlain = blocks.every((block) => block.type === "text" && block.metadata === undefined);
	return isPlain ? blocks.map((block) => (block as { text: string }).text).join("\n") : blocks;
}

/** Converts a part of a tool's output to a block of content. Each version of the AI SDK has its own name for a file. */
function blockOf(part: OutputPart): ContentBlock {
	const { providerOptions, mediaType = "application/octet-stream", filename } = part;
	const metadata = providerOptions === undefined ? {} : { metadata: providerOptions };
	if (part.type === "text") return { type: "text", text: String(part.text ?? ""), ...metadata };
	const source = sourceOf(part);
	if (source === undefined) return { type: "text", text: JSON.stringify(part) };
	const isImage = part.type.startsWith("image") || mediaType.split("/")[0] === "image";
	if (isImage && source.type !== "text" && source.type !== "reference")
		return { type: "image", source, mimeType: part.mediaType ?? "image/*", ...metadata };
	return {
		type: "document",
		source,
		mimeType: mediaType,
		...(filename === undefined ? {} : { title: filename }),
		...metadata,
	};
}

function sourceOf(part: OutputPart): DocumentSource | undefined {
	const given = part.data ?? part.url ?? part.fileId;
	if (given instanceof URL) return { type: "url", url: given.href };
	if (given instanceof Uint8Array || given instanceof ArrayBuffer)
		return { type: "base64", data: bytesToBase64(given) };
	if (typeof given === "string") {
		const type = part.type.endsWith("-url") ? "url" : "base64";
		return type === "url" ? { type, url: given } : { type, data: given };
	}
	const { type, data, url, text, reference } = (given ?? {}) as Record<string, unknown>;
	if (type === "data") return sourceOf({ type: "file", data });
	if (type === "url") return sourceOf({ type: "file-url", url });
	if (type === "text" && typeof text === "string") return { type: "text", data: text };
	if (type === "reference") return { type: "reference", reference: reference as Record<string, string> };
	return undefined;
}

function toModelMessages(messages: readonly unknown[]): object[] {
	const toolNames = new Map<string, string>();
	return messages.filter(isMessage).map((message) => toModelMessage(message, toolNames));
}

function toModelMessage(message: AnyMessage, toolNames: Map<string, string>): object {
	switch (message.type) {
		case "user":
			return { role: "user", content: message.content.map(toPart) };
		case "assistant": {
			const calls = (message.toolCalls ?? []).map(({ toolCallId, toolName, arguments: input }) => {
				toolNames.set(toolCallId, toolName);
				return { type: "tool-call", toolCallId, toolName, input };
			});
			return { role: "assistant", content: [...message.content.map(toPart), ...calls] };
		}
		case "tool_result":
			return {
				role: "tool",
				content: message.results.map((entry) => ({
					type: "tool-result",
					toolCallId: entry.toolCallId,
					toolName: toolNames.get(entry.toolCallId) ?? "",
					output: toOutput(entry),
				})),
			};
	}
}

function toOutput({ result, isError, denied, metadata }: ToolResult): object {
	const options = metadata === undefined ? {} : { providerOptions: metadata };
	if (denied === true) return { type: "execution-denied", reason: result, ...options };
	const type = `${isError === true ? "error-" : ""}${typeof result === "string" ? "text" : "json"}`;
	return { type, value: result, ...options };
}

function toPart(block: ContentBlock): object {
	if (block.type === "text" || block.type === "reasoning") return { type: block.type, text: block.text };
	const { mimeType: mediaType } = block;
	if ("data" in block) return { type: "file", data: block.data, mediaType };
	const { source } = block;
	if (source.type === "text") return { type: "text", text: source.data };
	if (source.type === "reference") return { type: "file", data: source, mediaType };
	const data = source.type === "url" ? new URL(source.url) : source.data;
	return { type: "file", data, mediaType };
}
