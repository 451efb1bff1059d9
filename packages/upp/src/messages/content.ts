// The content blocks of messages, as plain data. Blocks may carry data that a provider needs back (signatures, encrypted
// reasoning, item ids) in `metadata`, keyed by provider.

/** Data that providers attach and need back unchanged, keyed by the provider's name. */
export type ProviderMetadata = Record<string, Record<string, unknown>>;

/** The source of an image's or other medium's bytes. */
export type MediaSource =
	| { type: "base64"; data: string }
	| { type: "url"; url: string }
	| { type: "bytes"; data: Uint8Array };

/** The source of a document: bytes, a URL, inline plain text, or its ids at providers, by provider name. */
export type DocumentSource =
	| MediaSource
	| { type: "text"; data: string }
	| { type: "reference"; reference: Record<string, string> };

/** Text. */
export interface TextBlock {
	type: "text";
	/** The text. */
	text: string;
	metadata?: ProviderMetadata;
}

/** A model's reasoning before its answer. `metadata` contains the signatures that must be sent back. */
export interface ReasoningBlock {
	type: "reasoning";
	/** The reasoning, or the provider's summary of it. */
	text: string;
	/** Data that the provider needs back, such as signatures, keyed by the provider's name. */
	metadata?: ProviderMetadata;
}

/** An image. */
export interface ImageBlock {
	type: "image";
	/** The bytes or the URL of the image. */
	source: MediaSource;
	/** For example `image/png`. */
	mimeType: string;
	/** In pixels. */
	width?: number;
	/** In pixels. */
	height?: number;
	metadata?: ProviderMetadata;
}

/** Audio. */
export interface AudioBlock {
	type: "audio";
	/** The bytes of the audio file. */
	data: Uint8Array;
	/** For example `audio/mpeg`. */
	mimeType: string;
	/** In seconds. */
	duration?: number;
	metadata?: ProviderMetadata;
}

/** A video. */
export interface VideoBlock {
	type: "video";
	/** The bytes of the video file. */
	data: Uint8Array;
	/** For example `video/mp4`. */
	mimeType: string;
	/** In seconds. */
	duration?: number;
	/** In pixels. */
	width?: number;
	/** In pixels. */
	height?: number;
	metadata?: ProviderMetadata;
}

/** A document, such as a PDF. */
export interface DocumentBlock {
	type: "document";
	/** The bytes or the URL of the document. */
	source: DocumentSource;
	/** For example `application/pdf`. */
	mimeType: string;
	/** A title that the model sees, if its provider supports one. */
	title?: string;
	metadata?: ProviderMetadata;
}

/** Binary data of any other kind. */
export interface BinaryBlock {
	type: "binary";
	/** The bytes. */
	data: Uint8Array;
	/** For example `application/zip`. */
	mimeType: string;
	/** Data for providers, keyed by the provider's name. */
	metadata?: Record<string, unknown>;
}

/** A part of a message. */
export type ContentBlock =
	| TextBlock
	| ReasoningBlock
	| ImageBlock
	| AudioBlock
	| VideoBlock
	| DocumentBlock
	| BinaryBlock;

/** The content of a user's message. */
export type UserContent = Exclude<ContentBlock, ReasoningBlock>;

/** The content of a model's answer. */
export type AssistantContent = ContentBlock;

/** Whether a value is a content block, judged by its `type`. */
export function isContentBlock(value: unknown): value is ContentBlock {
	if (typeof value !== "object" || value === null) return false;
	return contentTypes.has((value as { type?: unknown }).type as string);
}

const contentTypes: ReadonlySet<string> = new Set<ContentBlock["type"]>([
	"text",
	"reasoning",
	"image",
	"audio",
	"video",
	"document",
	"binary",
]);
