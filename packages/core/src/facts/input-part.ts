// The parts of a multipart input, in the form that callers pass and events show, and their conversion to message blocks.

import type { DocumentSource, MediaSource, UserContent } from "@holdfast/upp";
import { HoldfastTypeError } from "@holdfast/upp";

/** The data of a file as a tagged object: base64 text, plain text, a URL, or its ids at providers. */
export type WrappedData =
	| { readonly type: "data"; readonly data: string | Uint8Array }
	| { readonly type: "text"; readonly text: string }
	| { readonly type: "url"; readonly url: string | URL }
	| { readonly type: "reference"; readonly reference: Readonly<Record<string, string>> };

/** A part of a multipart input. Images and files are bytes, base64 text, or a URL; nothing is fetched. */
export type InputPart =
	| { readonly type: "text"; readonly text: string }
	| { readonly type: "image"; readonly image: Uint8Array | string | URL; readonly mediaType?: string }
	| {
			readonly type: "file";
			readonly data: Uint8Array | string | URL | WrappedData;
			readonly mediaType: string;
			readonly filename?: string;
	  };

/** The type of an image whose type was not given. */
export const anyImage = "image/*";

/**
 * Converts a part to a block of a message.
 * @throws HoldfastError `invalid_input` for an invalid part.
 */
export function blockOf(part: unknown): UserContent {
	const given = (typeof part === "object" ? part : null) as Readonly<Record<string, unknown>> | null;
	if (given?.type === "text" && typeof given.text === "string") return { type: "text", text: given.text };
	if (given?.type === "image") {
		const mimeType = typeof given.mediaType === "string" ? given.mediaType : anyImage;
		return { type: "image", source: sourceOf(given.image, "image"), mimeType };
	}
	if (given?.type === "file" && typeof given.mediaType === "string") {
		const title = typeof given.filename === "string" ? { title: given.filename } : {};
		const source = isWrapped(part) ? unwrapped(given.data) : sourceOf(given.data, "data");
		return { type: "document", source, mimeType: given.mediaType, ...title };
	}
	const type = typeof given?.type === "string" ? `"${given.type}"` : String(given?.type);
	throw new HoldfastTypeError(
		"invalid_input",
		`Unknown part of type ${type}. Parts are text {text}, image {image}, file {data, mediaType}.`,
	);
}

/** Whether the data of a part is a tagged object. */
export function isWrapped(part: unknown): boolean {
	const data: unknown = (part as { readonly data?: unknown } | null)?.data;
	const isObject = typeof data === "object" && data !== null;
	return isObject && !(data instanceof Uint8Array) && !(data instanceof URL);
}

function sourceOf(value: unknown, name: string): MediaSource {
	if (value instanceof Uint8Array) return { type: "bytes", data: value.slice() };
	if (value instanceof URL) return { type: "url", url: value.href };
	if (typeof value === "string")
		return /^(https?|data):/.test(value) ? { type: "url", url: value } : { type: "base64", data: value };
	throw new HoldfastTypeError("invalid_input", `The part's \`${name}\` must be bytes, base64 text or a URL.`);
}

function unwrapped(data: unknown): DocumentSource {
	const given = data as Readonly<Record<string, unknown>>;
	const content = given[given.type as string];
	if (given.type === "data" && content instanceof Uint8Array) return { type: "bytes", data: content.slice() };
	if (given.type === "data" && typeof content === "string") return { type: "base64", data: content };
	if (given.type === "text" && typeof content === "string") return { type: "text", data: content };
	if (given.type === "url" && typeof content === "string") return { type: "url", url: content };
	if (given.type === "url" && content instanceof URL) return { type: "url", url: content.href };
	if (given.type === "reference" && isNames(content)) return { type: "reference", reference: { ...content } };
	throw new HoldfastTypeError(
		"invalid_input",
		"The part's `data` must be bytes, base64 text, a URL, or {type: data, text, url or reference} with a member of that name.",
	);
}

function isNames(value: unknown): value is Record<string, string> {
	if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
	const names = Object.values(value);
	return names.length > 0 && names.every((name) => typeof name === "string");
}
