// The accepted inputs of a session, and their normal form: a user message with a record of its original shape.
import {
	HoldfastTypeError,
	isThenable,
	isUserMessage,
	messageToJSON,
	UserMessage,
	wellFormed,
} from "@holdfast/upp";
import type { Caller } from "../caller/index.ts";
import type { InputTaken, Placement, RunStarted } from "./fact.ts";
import { blockOf, type InputPart, isWrapped } from "./input-part.ts";

/** The input shapes of `send`, `steer` and the like. */
export type SendInput =
	| string
	| readonly string[]
	| readonly InputPart[]
	| { readonly type: "user-text"; readonly text: string | readonly string[] }
	| { readonly type: "user-message"; readonly content: string | readonly InputPart[] }
	/** A message object, with its id and metadata. */
	| UserMessage;

/** An accepted input. */
export interface AcceptedInput {
	readonly shape: InputTaken["shape"];
	readonly wrapped?: InputTaken["wrapped"];
	/** For a reminder: the usage of its tasks. */
	readonly spent?: InputTaken["spent"];
	readonly message: UserMessage;
	/** If several inputs have the same key, only the first is accepted. */
	readonly dedupeKey?: string | undefined;
	/** Why the run it starts exists. Absent: a user's turn. */
	readonly origin?: Pick<RunStarted, "runKind" | "parent" | "caller">;
	/** For a sub-agent's work: the message in its history that it replaces, along with everything after it. */
	readonly insteadOf?: string | undefined;
}

/**
 * Copies and checks an input. `id` is the id of its message. Default: a new one.
 * @throws HoldfastError `invalid_input` if its shape is unknown.
 */
export function acceptInput(input: SendInput, id?: string): AcceptedInput {
	const given = readable(input);
	const accepted = given.shape === "text" ? given : wellFormed(given);
	if (id === undefined) return accepted;
	const { content, metadata } = accepted.message;
	return {
		...accepted,
		message: new UserMessage(content, metadata === undefined ? { id } : { id, metadata }),
	};
}

function readable(input: SendInput): AcceptedInput {
	try {
		return readInput(input);
	} catch (error) {
		if (error instanceof TypeError) throw error;
		throw new HoldfastTypeError("invalid_input", "The input cannot be read.", { cause: error });
	}
}

const oneMessage =
	"Send only the text of the new message, without its `role`: the session has the earlier messages.";

function readInput(input: SendInput): AcceptedInput {
	if (isUserMessage(input)) return { shape: "message", message: input };
	if (typeof input === "string") return ofText(input);
	if (Array.isArray(input)) {
		if (
			input.some((each) => typeof each === "object" && each !== null && "role" in each && !("type" in each))
		)
			throw new HoldfastTypeError("invalid_input", oneMessage);
		return fromArray(input);
	}
	if (typeof input === "object" && input !== null && "type" in input) {
		if (input.type === "user-text") {
			if (typeof input.text === "string") return ofText(input.text);
			// A copy has no holes: a missing list item becomes undefined and is refused.
			if (Array.isArray(input.text) && [...input.text].every((text) => typeof text === "string"))
				return fromArray(input.text);
		}
		if (input.type === "user-message") {
			if (typeof input.content === "string")
				return { shape: "message", message: new UserMessage(input.content) };
			if (Array.isArray(input.content) && input.content.length > 0) return ofParts([...input.content]);
		}
	}
	if (isThenable(input))
		throw new HoldfastTypeError("invalid_input", "The input is a promise: await it first.");
	if (typeof input === "object" && input !== null && "role" in input)
		throw new HoldfastTypeError("invalid_input", oneMessage);
	throw new HoldfastTypeError(
		"invalid_input",
		'Unknown input. Send a string, a non-empty array of strings or parts, {type: "user-text", text} or {type: "user-message", content}.',
	);
}

/** Returns the input with its caller. If it has a key, it is accepted at most once. */
export function saidBy(input: AcceptedInput, caller: Caller | undefined, dedupeKey?: string): AcceptedInput {
	const said: AcceptedInput =
		caller === undefined ? input : { ...input, origin: { runKind: "user-turn", ...input.origin, caller } };
	return dedupeKey === undefined ? said : { ...said, dedupeKey };
}

/** Converts an input to the form of the store's inbox. */
export function storedInput(input: AcceptedInput): unknown {
	const { message, dedupeKey: _, ...about } = input;
	return { ...about, message: messageToJSON(message) };
}

/** Returns the fact of an input that enters at a placement. */
export function inputFact(inputId: string, input: AcceptedInput, placement: Placement): InputTaken {
	const { shape, wrapped, spent, message } = input;
	const taken = { kind: "input", inputId, placement, shape, message } as const;
	const used = spent === undefined ? taken : { ...taken, spent };
	return wrapped === undefined ? used : { ...used, wrapped };
}

function ofText(text: string): AcceptedInput {
	return { shape: "text", message: new UserMessage(text.toWellFormed()) };
}

function fromArray(given: readonly unknown[]): AcceptedInput {
	const input = [...given];
	if (input.length === 0) throw new HoldfastTypeError("invalid_input", "An input array must not be empty.");
	if (input.every((part) => typeof part === "string")) {
		return { shape: "texts", message: new UserMessage(input.map((text) => ({ type: "text", text }))) };
	}
	return ofParts(input);
}

function ofParts(parts: readonly unknown[]): AcceptedInput {
	const message = new UserMessage(parts.map(blockOf));
	const wrapped = parts.flatMap((part, index) => (isWrapped(part) ? [index] : []));
	return wrapped.length === 0 ? { shape: "message", message } : { shape: "message", wrapped, message };
}
