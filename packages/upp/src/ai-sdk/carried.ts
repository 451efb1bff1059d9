// Parts of an AI SDK answer without a counterpart in UPP's message. They are stored in `message.metadata.upp` and sent
// back with the message.

import type { AnyMessage, AssistantMessage } from "../messages/index.ts";
import type { PromptPart } from "./language-model-types.ts";

/** A part that belongs in the prompt before the content block at this index. */
export interface PlacedPart {
	at: number;
	part: PromptPart;
}

/** A page or document that the model cites as its source. */
export interface Source {
	/** `url`, `document`, or another value that the provider defines. */
	sourceType: string;
	/** Identifies the source within the answer. */
	id: string;
	/** The address of a page. */
	url?: string;
	/** The title of the page or document. */
	title?: string;
	/** The type of a document. */
	mediaType?: string;
	/** The name of a document. */
	filename?: string;
}

/** The content of `message.metadata.upp` on messages created by an AI SDK model. */
export interface Carried {
	/** The provider's id of the response. */
	responseId?: string;
	/** The name that the provider gives the model that answered. */
	modelId?: string;
	sources?: Source[];
	/** Calls and results of tools that the provider ran itself, and content only the provider understands. */
	parts?: PlacedPart[];
	/** For each tool call that content followed, the index of the content block after it. */
	callPlaces?: Record<string, number>;
	/** For an answer that replaces an earlier one of the same turn: the id of that message. */
	replaces?: string;
}

/** Returns the extra data of a message by an AI SDK model; `undefined` for other messages. */
export function carriedBy(message: AnyMessage): Carried | undefined {
	return message.metadata?.upp as Carried | undefined;
}

/** Returns the metadata of an answer that replaces the message with this id. */
export function replacing(messageId: string): NonNullable<AssistantMessage["metadata"]> {
	return { upp: { replaces: messageId } satisfies Carried };
}

/** Returns the id of the message that this one replaces; `undefined` for most messages. */
export function replacedId({ metadata }: Pick<AssistantMessage, "metadata">): string | undefined {
	const { replaces } = (metadata?.upp ?? {}) as { readonly replaces?: unknown };
	return typeof replaces === "string" ? replaces : undefined;
}

/** Work that a provider did itself during an answer: a tool that it ran, the tool's result, or a source that it cites. */
export type ProviderPart =
	| {
			readonly type: "call";
			readonly toolCallId: string;
			readonly toolName: string;
			readonly input: unknown;
	  }
	| {
			readonly type: "result";
			readonly toolCallId: string;
			readonly toolName: string;
			readonly output: unknown;
			readonly isError: boolean;
	  }
	| ({ readonly type: "source" } & Readonly<Source>);

/** A part, and the index of the content block that it precedes. */
export interface PlacedProviderPart {
	/** Index of the content block that it precedes; the number of blocks if it follows the last. */
	readonly at: number;
	/** The part, as the provider sent it. */
	readonly part: ProviderPart;
}

/** Returns the provider's own work during an answer, in order, with sources at the end. Empty for most answers. */
export function providerParts(message: AssistantMessage): readonly PlacedProviderPart[] {
	const { parts = [], sources = [] } = carriedBy(message) ?? {};
	const placed: PlacedProviderPart[] = [];
	for (const { at, part } of parts) {
		const { type, toolCallId = "", toolName = "", input, output } = part;
		if (type === "tool-call") placed.push({ at, part: { type: "call", toolCallId, toolName, input } });
		else if (type === "tool-result") {
			const isError = output?.type.startsWith("error") === true;
			placed.push({ at, part: { type: "result", toolCallId, toolName, output: output?.value, isError } });
		}
	}
	const at = message.content.length;
	for (const source of sources) placed.push({ at, part: { type: "source", ...source } });
	return placed;
}
