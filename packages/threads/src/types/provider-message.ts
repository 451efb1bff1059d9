// Messages in the form that a provider receives.

/** Text. */
export interface TextPart {
	/** Always `text`. */
	type: "text";
	/** The text. */
	text: string;
}

/** An image as bytes. */
export interface ImagePart {
	/** Always `image`. */
	type: "image";
	/** Its bytes in base64. */
	data: string;
	/** Its MIME type. */
	mediaType: string;
	/** The level of detail at which the model processes it. */
	detail?: "auto" | "low" | "high";
}

/** An image at a URL. */
export interface ImageUrlPart {
	/** Always `image_url`. */
	type: "image_url";
	/** Its URL, and the level of detail at which the model processes it. */
	image_url: { url: string; detail?: "auto" | "low" | "high" };
}

/** A file as bytes. */
export interface FilePart {
	/** Always `file`. */
	type: "file";
	/** Its bytes in base64. */
	data: string;
	/** Its MIME type. */
	mediaType: string;
	/** Its name. */
	filename?: string;
}

/** A part of a message. */
export type ContentPart = TextPart | ImagePart | ImageUrlPart | FilePart;
/** The content of a message. */
export type ProviderMessageContent = string | ContentPart[];

/** The instructions of the model. */
export interface ProviderSystemMessage {
	/** Always `system`. */
	role: "system";
	/** The text. */
	content: string;
}

/** A message of the other side. */
export interface ProviderUserMessage {
	/** Always `user`. */
	role: "user";
	/** Its content. */
	content: ProviderMessageContent;
}

/** A piece of reasoning that the provider wants back unchanged. */
export interface ProviderReasoningDetail {
	/** The type, as the provider defines it. */
	type: string;
	/** Its text. */
	text?: string;
	/** A summary of the reasoning. */
	summary?: string;
	/** The provider's signature. */
	signature?: string;
	/** Data that the provider encrypted. */
	data?: string;
	/** Its identifier. */
	id?: string;
	/** Its format. */
	format?: string;
	/** Its position among the other pieces. */
	index?: number;
}

/** A tool call. */
export interface ProviderToolCallPart {
	/** Unique in the thread. */
	id: string;
	/** Name of the tool. */
	name: string;
	/** Its arguments. */
	arguments: Record<string, unknown>;
	/** Custom data of the provider, which it gets back with the call. */
	extraContent?: Record<string, unknown>;
}

/** A message of the model. */
export interface ProviderAssistantMessage {
	/** Always `assistant`. */
	role: "assistant";
	/** The text. */
	content?: ProviderMessageContent | null;
	/** Its reasoning. */
	reasoning?: string | null;
	/** The model's reasoning, in the form that the provider expects back. */
	reasoningDetails?: ProviderReasoningDetail[];
	/** The tools it called. */
	toolCalls?: ProviderToolCallPart[];
}

/** The content of a tool's result. */
export type ProviderToolResultContent =
	| string
	| { type: "text"; text: string }
	| { type: "error"; error: string }
	| ContentPart[];

/** A file that came with a result. */
export interface ProviderAttachment {
	/** Whether it is an image or another file. */
	type: "image" | "file";
	/** Its bytes in base64, or a URL. */
	data: string;
	/** Its MIME type. */
	mediaType: string;
	/** Its name. */
	name?: string;
}

/** The result of a tool. */
export interface ProviderToolMessage {
	/** Always `tool`. */
	role: "tool";
	/** The call that it answers. */
	toolCallId: string;
	/** Name of the tool. */
	toolName: string;
	/** The tool's output. */
	content: ProviderToolResultContent;
	/** Files that belong to the result. */
	attachments?: ProviderAttachment[];
}

/** A message in the form that a provider receives. */
export type ProviderMessage =
	| ProviderSystemMessage
	| ProviderUserMessage
	| ProviderAssistantMessage
	| ProviderToolMessage;
