// What can be sent to a session, and its one normal form: a user message and the shape it came in.
import { messageToJSON, type UserContent, UserMessage } from "@holdfast/upp";
import type { Caller } from "../caller/index.ts";
import type { InputTaken, Placement, RunStarted } from "./fact.ts";

/** A part of a multipart input. Images and files are bytes, base64 text, or a URL; nothing is fetched. */
export type InputPart =
	| { readonly type: "text"; readonly text: string }
	| { readonly type: "image"; readonly image: Uint8Array | string | URL; readonly mediaType?: string }
	| {
			readonly type: "file";
			readonly data: Uint8Array | string | URL;
			readonly mediaType: string;
			readonly filename?: string;
	  };

/** The input shapes of `send`, `steer` and the like. @see keyed sessions, Input */
export type SendInput =
	| string
	| readonly string[]
	| readonly InputPart[]
	| { readonly type: "user-text"; readonly text: string | readonly string[] }
	| { readonly type: "user-message"; readonly content: string | readonly InputPart[] };

/** An accepted input. */
export interface AcceptedInput {
	readonly shape: InputTaken["shape"];
	readonly message: UserMessage;
	/** Why the run it starts exists; absent: it is a user's turn. */
	readonly origin?: Pick<RunStarted, "runKind" | "parent" | "caller">;
}

/**
 * Copies and checks an input. `id` is that of its message; default: a new one.
 * @throws TypeError when it is of no known shape.
 */
export function acceptInput(input: SendInput, id?: string): AcceptedInput {
	const accepted = readInput(input);
	if (id === undefined) return accepted;
	return { ...accepted, message: new UserMessage(accepted.message.content, { id }) };
}

function readInput(input: SendInput): AcceptedInput {
	if (typeof input === "string") return { shape: "text", message: new UserMessage(input) };
	if (Array.isArray(input)) return fromArray(input);
	if (typeof input === "object" && input !== null && "type" in input) {
		if (input.type === "user-text") {
			if (typeof input.text === "string") return { shape: "text", message: new UserMessage(input.text) };
			if (Array.isArray(input.text) && input.text.every((text) => typeof text === "string"))
				return fromArray(input.text);
		}
		if (input.type === "user-message") {
			if (typeof input.content === "string")
				return { shape: "message", message: new UserMessage(input.content) };
			if (Array.isArray(input.content) && input.content.length > 0) {
				return { shape: "message", message: new UserMessage(input.content.map(contentOf)) };
			}
		}
	}
	throw new TypeError(
		'Unknown input. Send a string, a non-empty array of strings or parts, {type: "user-text", text} or {type: "user-message", content}.',
	);
}

/** The input as somebody says it. */
export function saidBy(input: AcceptedInput, caller: Caller | undefined): AcceptedInput {
	return caller === undefined
		? input
		: { ...input, origin: { runKind: "user-turn", ...input.origin, caller } };
}

/** An input as it is in the store's inbox. */
export function storedInput(input: AcceptedInput): unknown {
	const { shape, message, origin } = input;
	return { shape, message: messageToJSON(message), ...(origin === undefined ? {} : { origin }) };
}

/** The fact of an input that enters at a placement. */
export function inputFact(inputId: string, input: AcceptedInput, placement: Placement): InputTaken {
	return { kind: "input", inputId, placement, shape: input.shape, message: input.message };
}

function fromArray(input: readonly unknown[]): AcceptedInput {
	if (input.length === 0) throw new TypeError("An input array must not be empty.");
	if (input.every((part) => typeof part === "string")) {
		return { shape: "texts", message: new UserMessage(input.map((text) => ({ type: "text", text }))) };
	}
	return { shape: "message", message: new UserMessage(input.map(contentOf)) };
}

function contentOf(part: unknown): UserContent {
	const given = part as {
		type?: unknown;
		text?: unknown;
		image?: unknown;
		data?: unknown;
		mediaType?: unknown;
		filename?: unknown;
	} | null;
	if (given?.type === "text" && typeof given.text === "string") return { type: "text", text: given.text };
	if (given?.type === "image") {
		const mimeType = typeof given.mediaType === "string" ? given.mediaType : "image/*";
		return { type: "image", source: sourceOf(given.image, "image"), mimeType };
	}
	if (given?.type === "file" && typeof given.mediaType === "string") {
		const title = typeof given.filename === "string" ? { title: given.filename } : {};
		return { type: "document", source: sourceOf(given.data, "data"), mimeType: given.mediaType, ...title };
	}
	throw new TypeError(
		`Unknown part of type ${JSON.stringify(given?.type)}. Parts are text {text}, image {image}, file {data, mediaType}.`,
	);
}

function sourceOf(
	value: unknown,
	name: string,
): { type: "bytes"; data: Uint8Array } | { type: "url"; url: string } | { type: "base64"; data: string } {
	if (value instanceof Uint8Array) return { type: "bytes", data: value.slice() };
	if (value instanceof URL) return { type: "url", url: value.href };
	if (typeof value === "string")
		return /^(https?|data):/.test(value) ? { type: "url", url: value } : { type: "base64", data: value };
	throw new TypeError(`The part's \`${name}\` must be bytes, base64 text or a URL.`);
}
