// Converts images, audio, video, documents and other binary data between content blocks and the AI SDK's file parts. V4
// wraps the data by its kind, V2 and V3 do not.

import { UPPError } from "../errors/index.ts";
import {
	type AudioBlock,
	type BinaryBlock,
	base64ToBytes,
	bytesToBase64,
	type ContentBlock,
	type DocumentSource,
	type ImageBlock,
	type VideoBlock,
} from "../messages/index.ts";
import type { AISDKMetadata, LanguageModel, PromptPart } from "./language-model-types.ts";

export type SpecificationVersion = LanguageModel["specificationVersion"];

export type FileBlock = Exclude<ContentBlock, { type: "text" | "reasoning" }>;

/** Converts a content block to a file part of the prompt. */
export function filePart(block: FileBlock, version: SpecificationVersion): PromptPart {
	const source: DocumentSource = "source" in block ? block.source : { type: "bytes", data: block.data };
	const metadata = block.metadata as AISDKMetadata | undefined;
	const part: PromptPart = {
		type: isReasoning(metadata) ? "reasoning-file" : "file",
		mediaType: block.mimeType,
		data: version === "v4" ? wrappedData(source) : bareData(source),
	};
	if (block.type === "document" && block.title !== undefined) part.filename = block.title;
	if (metadata !== undefined) part.providerOptions = metadata;
	return part;
}

/** Converts a content block to a part of a tool's result. */
export function resultFilePart(block: FileBlock, version: SpecificationVersion): object {
	if (version === "v4") return filePart(block, version);
	const source: DocumentSource = "source" in block ? block.source : { type: "bytes", data: block.data };
	if (source.type === "url" && version === "v3") return { type: "file-url", url: source.url };
	return {
		type: version === "v2" ? "media" : "file-data",
		data: asBase64(source),
		mediaType: block.mimeType,
	};
}

/**
 * Converts a file of an answer to a content block: image, audio, video, or binary data of another kind.
 * @throws TypeError for a file that is neither bytes, base64 nor a URL.
 */
export function fileBlock(
	given: unknown,
	mimeType: string,
	metadata: AISDKMetadata | undefined,
): ImageBlock | AudioBlock | VideoBlock | BinaryBlock | ContentBlock {
	const extra = metadata === undefined ? {} : { metadata };
	const inner = given as { type?: unknown; data?: unknown; url?: unknown } | null | undefined;
	const url = inner?.type === "url" ? addressOf(inner.url) : undefined;
	const kind = mimeType.split("/")[0];
	if (url !== undefined) {
		const type = kind === "image" ? "image" : "document";
		return { type, source: { type: "url", url }, mimeType, ...extra };
	}
	const content = inner?.type === "data" ? inner.data : given;
	const data = typeof content === "string" ? base64ToBytes(content) : content;
	if (!(data instanceof Uint8Array)) throw new TypeError("the data of a file is neither bytes nor base64");
	if (kind === "image") return { type: "image", source: { type: "bytes", data }, mimeType, ...extra };
	if (kind === "audio" || kind === "video") return { type: kind, data, mimeType, ...extra };
	return { type: "binary", data, mimeType, ...extra };
}

function addressOf(url: unknown): string {
	if (typeof url === "string") return url;
	if (url instanceof URL) return url.href;
	throw new TypeError("the address of a file is not a URL");
}

function wrappedData(source: DocumentSource): object {
	if (source.type === "url") return { type: "url", url: new URL(source.url) };
	if (source.type === "text") return { type: "text", text: source.data };
	if (source.type === "reference") return { type: "reference", reference: source.reference };
	return { type: "data", data: source.data };
}

function bareData(source: DocumentSource): unknown {
	if (source.type === "url") return new URL(source.url);
	if (source.type === "reference") throw referenceUnsupported();
	return source.type === "text" ? new TextEncoder().encode(source.data) : source.data;
}

function asBase64(source: DocumentSource): string {
	switch (source.type) {
		case "base64":
			return source.data;
		case "bytes":
			return bytesToBase64(source.data);
		case "text":
			return bytesToBase64(new TextEncoder().encode(source.data));
		case "url":
			return source.url;
		case "reference":
			throw referenceUnsupported();
	}
}

function referenceUnsupported(): UPPError {
	return new UPPError(
		"A file is identified by its ids at providers. This requires version 4 of the AI SDK's model interface. Pass its bytes or its URL.",
		"INVALID_REQUEST",
		"ai-sdk",
		"llm",
	);
}

function isReasoning(metadata: AISDKMetadata | undefined): boolean {
	return metadata?.upp?.reasoning === true;
}
