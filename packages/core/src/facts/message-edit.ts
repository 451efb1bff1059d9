// A change of the history requested from outside. A run accepts it like any other input (keeps I4).
import {
	type AnyMessage,
	HoldfastError,
	HoldfastTypeError,
	type Message,
	type MessageJSON,
	messageFromJSON,
	messageToJSON,
	wellFormed,
} from "@holdfast/upp";
import type { MessageAdded, MessageDeleted, MessageUpdated } from "./fact.ts";
import { isUnreadable, journalCorrupt } from "./journal-errors.ts";

/** Appends a message to the history, replaces the one with the same id, or removes one. */
export type MessageEdit =
	| { readonly kind: "add"; readonly message: Message }
	| { readonly kind: "update"; readonly message: Message }
	| { readonly kind: "delete"; readonly messageId: string };

/** The fact that records a change. */
export type EditFact = MessageAdded | MessageUpdated | MessageDeleted;

/**
 * Converts a change to the form of the store's inbox.
 * @throws HoldfastError `invalid_input` for what `readEdit` could not read back, and for an added message with calls or
 * results: they would have no counterpart, and providers refuse such a history.
 */
export function storedEdit(edit: MessageEdit): unknown {
	const stored = written(edit);
	if (edit.kind === "add" && hasCallsOrResults(edit.message as AnyMessage))
		throw new HoldfastError(
			"invalid_input",
			"An added message must not have tool calls or results, because a call and its result belong together. Add text.",
		);
	return stored;
}

/** Returns the stored form, after a test that it can be read: an edit that cannot be read would damage its session. */
function written(edit: MessageEdit): unknown {
	try {
		const stored =
			edit.kind === "delete"
				? { edit: edit.kind, messageId: edit.messageId }
				: { edit: edit.kind, message: messageToJSON(wellFormed(edit.message as AnyMessage)) };
		readEdit(stored);
		return stored;
	} catch (cause) {
		throw new HoldfastTypeError(
			"invalid_input",
			'`edit()` takes { kind: "add" | "update", message } with a message such as `new UserMessage("...")`, or { kind: "delete", messageId }.',
			{ cause },
		);
	}
}

/**
 * Returns the fact of a change in the inbox.
 * @throws HoldfastError `journal_corrupt` for anything else.
 */
export function readEdit(body: unknown): EditFact {
	try {
		const { edit, messageId, message } = body as { edit: string; messageId: string; message: MessageJSON };
		if (edit === "delete" && typeof messageId === "string") return { kind: "message.deleted", messageId };
		const said = messageFromJSON(message);
		if (edit === "add") return { kind: "message.added", message: said };
		if (edit === "update") return { kind: "message.updated", messageId: said.id, message: said };
	} catch (error) {
		if (isUnreadable(error)) throw error;
		throw journalCorrupt("a change of the history cannot be read", error);
	}
	throw journalCorrupt("a change of the history has an unknown kind", undefined);
}

/** Returns the id of the message that a change in the inbox adds; undefined if it adds none. */
export function addedIdOf(body: unknown): string | undefined {
	const { edit, message } = body as { edit?: string; message?: Partial<MessageJSON> };
	return edit === "add" ? message?.id : undefined;
}

function hasCallsOrResults(message: AnyMessage): boolean {
	if (message.type === "tool_result") return message.results.length > 0;
	return message.type === "assistant" && (message.toolCalls?.length ?? 0) > 0;
}
