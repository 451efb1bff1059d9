// What an AI SDK answer holds that UPP's message has no place for. It is kept in
// `message.metadata.upp` and sent back with the message.

import type { AnyMessage } from "../messages/index.ts";
import type { PromptPart } from "./language-model-types.ts";

/** A part to be put back into the prompt before the content block at this index. */
export interface PlacedPart {
	at: number;
	part: PromptPart;
}

/** A page or a document that the model names as its source. */
export interface Source {
	sourceType: string;
	id: string;
	url?: string;
	title?: string;
	mediaType?: string;
	filename?: string;
}

/** The content of `message.metadata.upp` on messages made by an AI SDK model. */
export interface Carried {
	/** The provider's id of the response. */
	responseId?: string;
	/** The model that answered, as the provider names it. */
	modelId?: string;
	sources?: Source[];
	/** Calls and results of tools that the provider ran itself, and content only the provider understands. */
	parts?: PlacedPart[];
	/** For each tool call that content followed, the index of the content block after it. */
	callPlaces?: Record<string, number>;
}

/** What a message made by an AI SDK model carries; `undefined` for messages made elsewhere. */
export function carriedBy(message: AnyMessage): Carried | undefined {
	return message.metadata?.upp as Carried | undefined;
}
