// Reads the result of a call in any form: its effect has happened, so it always counts as a result. Block types that the
// client does not support become text.

type Members = Record<string, unknown>;

/** Converts the result of `tools/call` to a form that the official client can read. */
export function repairCallResult(result: unknown): unknown {
	if (!isMembers(result)) return { content: result == null ? [] : [text(shown(result))] };
	// A server's request instead of a result does not count as a result.
	if ("inputRequests" in result || "task" in result) return result;
	const { content, structuredContent, isError } = result;
	const given = Array.isArray(content) ? content : content == null ? [] : [content];
	const blocks: unknown[] = given.map(blockOf);
	const made: Members = { ...result, content: blocks };
	if (structuredContent !== undefined && !isMembers(structuredContent)) {
		delete made.structuredContent;
		if (structuredContent !== null) made.content = [...blocks, text(shown(structuredContent))];
	}
	if (isError !== undefined && typeof isError !== "boolean")
		made.isError = isError === "true" || isError === 1;
	if (result._meta !== undefined && !isMembers(result._meta)) delete made._meta;
	return made;
}

function blockOf(given: unknown): unknown {
	if (!isMembers(given)) return text(shown(given));
	const block = { ...given };
	if (block.annotations !== undefined && !isAnnotations(block.annotations)) delete block.annotations;
	if (block._meta !== undefined && !isMembers(block._meta)) delete block._meta;
	switch (block.type) {
		case "text":
			return typeof block.text === "string" ? block : text(shown(block.text));
		case "image":
		case "audio":
			return mediaOf(block);
		case "resource_link":
			if (typeof block.uri !== "string") return text(shown(given));
			return typeof block.name === "string" ? block : { ...block, name: block.uri };
		case "resource":
			return resourceOf(block) ?? text(shown(given));
		default:
			return text(
				`[content of the unknown type ${JSON.stringify(block.type)}] ${shown(without(block, "type"))}`,
			);
	}
}

function mediaOf(block: Members): unknown {
	const { data, mimeType } = unwrapped(block.data, block.mimeType);
	const kind = block.type === "image" ? "picture" : "sound";
	if (data === undefined) return text(`[a ${kind} that cannot be read]`);
	return { ...block, data, mimeType: mimeType ?? (block.type === "image" ? "image/png" : "audio/wav") };
}

function resourceOf(block: Members): unknown {
	const { resource } = block;
	if (!isMembers(resource) || typeof resource.uri !== "string") return undefined;
	const { mimeType } = resource;
	const named =
		mimeType === undefined || typeof mimeType === "string" ? resource : without(resource, "mimeType");
	if (typeof named.text === "string") return { ...block, resource: named };
	const { data, mimeType: type } = unwrapped(named.blob, named.mimeType);
	if (data === undefined) return undefined;
	return { ...block, resource: { ...named, blob: data, ...(type === undefined ? {} : { mimeType: type }) } };
}

/** Returns base64 text, also from a data URL or with line breaks; empty if it is not base64. */
function unwrapped(given: unknown, mimeType: unknown): { data?: string; mimeType?: string } {
	if (typeof given !== "string") return {};
	const url = /^data:([^;,]*)[^,]*;base64,/i.exec(given);
	const data = given.slice(url?.[0].length ?? 0).replace(/\s+/g, "");
	const isBase64 = /^[A-Za-z0-9+/]*={0,2}$/.test(data) && data.length % 4 === 0;
	const type = typeof mimeType === "string" && mimeType !== "" ? mimeType : url?.[1];
	return { ...(isBase64 ? { data } : {}), ...(type ? { mimeType: type } : {}) };
}

function isAnnotations(given: unknown): boolean {
	if (!isMembers(given)) return false;
	const { audience, priority, lastModified } = given;
	const isAudience =
		Array.isArray(audience) && audience.every((each) => each === "user" || each === "assistant");
	return (
		(audience === undefined || isAudience) &&
		(priority === undefined || (typeof priority === "number" && priority >= 0 && priority <= 1)) &&
		lastModified === undefined
	);
}

function without(members: Members, name: string): Members {
	const { [name]: _, ...rest } = members;
	return rest;
}

function text(value: string): { readonly type: "text"; readonly text: string } {
	return { type: "text", text: value };
}

function shown(value: unknown): string {
	return typeof value === "string" ? value : (JSON.stringify(value) ?? "");
}

function isMembers(value: unknown): value is Members {
	return typeof value === "object" && value !== null && !Array.isArray(value);
}
