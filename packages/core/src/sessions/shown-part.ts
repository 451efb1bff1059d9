// The parts of an input as events contain them: in the given form, with bytes as base64 text.
import type { DocumentSource, UserContent } from "@holdfast/upp";
import { anyImage, type InputPart, type WrappedData } from "../facts/index.ts";
import { plainJson } from "../tools/index.ts";

/** Returns the original part of a block, with bytes as base64 text. */
export function partOf(block: UserContent, isWrapped: boolean): InputPart {
	switch (block.type) {
		case "text":
			return { type: "text", text: block.text };
		case "image": {
			const mediaType = block.mimeType === anyImage ? {} : { mediaType: block.mimeType };
			return { type: "image", image: textOf(block.source), ...mediaType };
		}
		case "document": {
			const { source, mimeType: mediaType, title } = block;
			const data = isWrapped || source.type === "reference" ? wrapped(source) : textOf(source);
			return { type: "file", data, mediaType, ...(title === undefined ? {} : { filename: title }) };
		}
		default:
			return { type: "file", data: base64Of(block.data), mediaType: block.mimeType };
	}
}

function wrapped(source: DocumentSource): WrappedData {
	switch (source.type) {
		case "bytes":
			return { type: "data", data: base64Of(source.data) };
		case "base64":
			return { type: "data", data: source.data };
		case "text":
			return { type: "text", text: source.data };
		case "url":
			return { type: "url", url: source.url };
		case "reference":
			return { type: "reference", reference: source.reference };
	}
}

function textOf(source: Exclude<DocumentSource, { type: "reference" }>): string {
	if (source.type === "bytes") return base64Of(source.data);
	return source.type === "url" ? source.url : source.data;
}

function base64Of(bytes: Uint8Array): string {
	return plainJson(bytes) as string;
}
