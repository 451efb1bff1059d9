// Converts a server's result for a model: to text, data, or content with pictures and files.
import type { ContentBlock, JSONValue } from "@holdfast/upp";
import type { CallToolResult, ReadResourceResult } from "@modelcontextprotocol/client";

type Content = CallToolResult["content"][number];

/**
 * Returns a result in the form that a tool returns. Audio and other bytes that models do not accept are described by
 * their type and size.
 */
export function readResult(result: CallToolResult): string | JSONValue | readonly ContentBlock[] {
	const content = result.content ?? [];
	const blocks = content.map(blockOf);
	if (blocks.some(({ type }) => type !== "text")) return blocks;
	const text = textOf(blocks);
	const { structuredContent: data } = result;
	if (data === undefined || data === null) return text;
	return text.trim() === "" || repeats(text, data) ? (data as JSONValue) : `${text}\n${JSON.stringify(data)}`;
}

/** Whether a text only repeats the data, which servers often write as JSON. */
function repeats(text: string, data: object): boolean {
	try {
		return JSON.stringify(sorted(JSON.parse(text))) === JSON.stringify(sorted(data));
	} catch {
		return false;
	}
}

function sorted(value: unknown): unknown {
	if (typeof value !== "object" || value === null) return value;
	if (Array.isArray(value)) return value.map(sorted);
	return Object.fromEntries(
		Object.entries(value)
			.sort(([left], [right]) => (left < right ? -1 : 1))
			.map(([name, member]) => [name, sorted(member)]),
	);
}

/** Returns the contents of a resource in the form that a tool returns. */
export function readContents({ contents }: ReadResourceResult): string | readonly ContentBlock[] {
	const blocks = contents.map((resource) =>
		"text" in resource && contents.length === 1
			? text(resource.text)
			: blockOf({ type: "resource", resource } as Content),
	);
	return blocks.some(({ type }) => type !== "text") ? blocks : textOf(blocks);
}

/** Returns the message of a failed call. */
export function readFailure(result: CallToolResult): string {
	const text = textOf((result.content ?? []).map(blockOf).filter(({ type }) => type === "text"));
	if (text !== "") return text;
	const data = result.structuredContent;
	return data === undefined ? "The tool failed without a reason." : JSON.stringify(data);
}

function textOf(blocks: readonly ContentBlock[]): string {
	return blocks.map((block) => (block.type === "text" ? block.text : "")).join("\n");
}

function blockOf(content: Content): ContentBlock {
	switch (content.type) {
		case "text":
			return text(content.text);
		case "image":
			return image(content.data, content.mimeType);
		case "audio":
			return text(`[audio, ${content.mimeType}, ${bytes(content.data)} bytes]`);
		case "resource_link": {
			const { uri, name, description } = content;
			const about = description === undefined ? "" : `: ${description}`;
			return text(`[resource ${name} at ${uri}${about}]`);
		}
		case "resource": {
			const { resource } = content;
			if ("text" in resource) return text(`[resource ${resource.uri}]\n${resource.text}`);
			const { blob, mimeType = "application/octet-stream", uri } = resource;
			if (mimeType.startsWith("image/")) return image(blob, mimeType);
			if (mimeType === "application/pdf")
				return { type: "document", source: { type: "base64", data: blob }, mimeType, title: uri };
			return text(`[resource ${uri}, ${mimeType}, ${bytes(blob)} bytes]`);
		}
		default:
			return text(`[content of the unknown type ${JSON.stringify((content as { type: unknown }).type)}]`);
	}
}

function text(value: string): ContentBlock {
	return { type: "text", text: value };
}

// An invalid image would fail every request that shows it to a model, for the rest of the session.
function image(data: string, mimeType: string): ContentBlock {
	if (!/^image\/[\w.+-]+$/.test(mimeType) || !/^[A-Za-z0-9+/]+={0,2}$/.test(data) || data.length % 4 !== 0)
		return text(`[a picture that cannot be read, ${bytes(data)} bytes]`);
	return { type: "image", source: { type: "base64", data }, mimeType };
}

function bytes(base64: string): number {
	return Math.floor((base64.length * 3) / 4);
}
