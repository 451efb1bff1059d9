// Parts of A2A messages.
import type { Part } from "@a2a-js/sdk";

export function textPart(text: string): Part {
	return {
		content: { $case: "text", value: text },
		metadata: undefined,
		filename: "",
		mediaType: "text/plain",
	};
}

export function dataPart(value: unknown): Part {
	return {
		content: { $case: "data", value },
		metadata: undefined,
		filename: "",
		mediaType: "application/json",
	};
}

/** Returns the part for a file, from base64 text or its URL. */
export function filePart(data: string, mediaType: string): Part {
	const isUrl = /^https?:/.test(data);
	return {
		content: isUrl ? { $case: "url", value: data } : { $case: "raw", value: Buffer.from(data, "base64") },
		metadata: undefined,
		filename: "",
		mediaType,
	};
}

/** Returns the text of parts, with data as JSON. */
export function textOf(parts: readonly Part[]): string {
	return parts
		.map(({ content }) => {
			if (content?.$case === "text") return content.value;
			return content?.$case === "data" ? JSON.stringify(content.value) : "";
		})
		.filter((text) => text !== "")
		.join("\n");
}
