// Data that a thread stores with a message in addition to the engine's own, under one name in the message's metadata.
import type { Message as EngineMessage } from "@holdfast/upp";
import type { AttachmentRef, Message } from "../types/index.ts";

/** A side of an agent. */
export type Side = "a" | "b";

/** A request to a thread that is not a message: no model sees it, and no list shows it. */
export type Control =
	| { readonly kind: "tool"; readonly name: string; readonly args: Record<string, unknown> }
	| { readonly kind: "continue" }
	| { readonly kind: "stop" }
	| { readonly kind: "turn"; readonly side: Side };

/** Data stored with a message. All of it is plain data. */
export interface MessageData {
	/** Set if it differs from the default for the message's kind. */
	readonly role?: Message["role"];
	readonly name?: string;
	/** Distinguishes a message without text from one with an empty text. */
	readonly noContent?: true;
	readonly silent?: true;
	readonly metadata?: Record<string, unknown>;
	readonly status?: Message["status"];
	readonly attachments?: AttachmentRef[];
	readonly parentId?: string;
	readonly depth?: number;
	/** Columns that the project stores with its messages. */
	readonly columns?: Record<string, unknown>;
	/** The side that sent it. */
	readonly side?: Side;
	/** The side that should answer it. */
	readonly to?: Side;
	/** The prompt that produced it. */
	readonly prompt?: string;
	/** The model of the project that answered, and the cost in US dollars, if known. */
	readonly model?: string;
	readonly cost?: number;
	readonly control?: Control;
}

const dataKey = "threads";
const none: MessageData = {};

/** Reads the thread's data from a message. */
export function dataOf({ metadata }: EngineMessage): MessageData {
	return (metadata?.[dataKey] as MessageData | undefined) ?? none;
}

/** Returns the metadata of a message with this data, keeping other metadata. */
export function withData(
	data: MessageData,
	others: EngineMessage["metadata"] = {},
): NonNullable<EngineMessage["metadata"]> {
	return { ...others, [dataKey]: data as Record<string, unknown> };
}

/** Returns plain data without undefined members and values that are not JSON. */
export function plainData(data: MessageData): MessageData {
	return JSON.parse(JSON.stringify(data)) as MessageData;
}
