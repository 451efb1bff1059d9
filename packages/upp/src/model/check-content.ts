// Validates the content of a model's answer, block by block.

import { type ContentBlock, isContentBlock, isPlainRecord, storable } from "../messages/index.ts";
import { Fault } from "./fault.ts";

/** Throws a Fault for a block that cannot be stored and sent back. */
export function checkBlock(block: unknown, index: number): void {
	if (!isPlainRecord(block) || !isContentBlock(block))
		throw fault(index, "", "a content block of a known type");
	if (block.type === "text" || block.type === "reasoning") {
		if (typeof block.text !== "string") throw fault(index, ".text", "a text");
	} else checkMedia(block, index);
	const { metadata } = block;
	if (metadata !== undefined && !isPlainRecord(metadata)) throw fault(index, ".metadata", "an object");
	if (storable(block) !== "yes") throw fault(index, "", "plain data");
}

function checkMedia(block: Exclude<ContentBlock, { type: "text" | "reasoning" }>, index: number): void {
	if (typeof block.mimeType !== "string") throw fault(index, ".mimeType", "a text");
	if (block.type === "image" || block.type === "document") checkSource(block.source, block.type, index);
	else if (!(block.data instanceof Uint8Array)) throw fault(index, ".data", "a Uint8Array");
	if (block.type === "document" && block.title !== undefined && typeof block.title !== "string")
		throw fault(index, ".title", "a text");
}

function checkSource(source: unknown, of: "image" | "document", index: number): void {
	if (!isPlainRecord(source)) throw fault(index, ".source", "an object");
	const { type, data, url } = source;
	if (type === "bytes") {
		if (!(data instanceof Uint8Array)) throw fault(index, ".source.data", "a Uint8Array");
	} else if (type === "url") {
		if (typeof url !== "string") throw fault(index, ".source.url", "a text");
	} else if (type === "base64" || (type === "text" && of === "document")) {
		if (typeof data !== "string") throw fault(index, ".source.data", "a text");
	} else throw fault(index, ".source.type", "a known type of source");
}

function fault(index: number, member: string, expected: string): Fault {
	return new Fault(`\`message.content.${index}${member}\``, expected);
}
