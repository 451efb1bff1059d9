// Files that a tool attaches are stored with the thread; a message holds only the path, never the bytes.
import { HoldfastError } from "holdfast";
import type { AttachmentRef, ToolAttachment } from "../types/index.ts";
import type { ThreadFiles } from "./thread-files.ts";

/**
 * Stores attachments, each under its own path. `newId` returns unique ids.
 * @throws HoldfastError `invalid_attachment`, and the errors of writing a file; files written before the error stay.
 */
export async function storeAttachments(
	files: ThreadFiles,
	attachments: readonly ToolAttachment[],
	newId: () => string,
): Promise<AttachmentRef[]> {
	const stored: AttachmentRef[] = [];
	for (const { name, mimeType, data, width, height } of attachments) {
		const id = newId();
		const size = {
			...(width === undefined ? {} : { width }),
			...(height === undefined ? {} : { height }),
		};
		const shown = baseNameOf(name);
		const record = await files.writeFile(`/attachments/${id}/${shown}`, bytesOf(data, shown), mimeType, size);
		stored.push({
			id,
			type: "file",
			path: record.path,
			name: shown,
			mimeType: record.mimeType,
			size: record.size,
			...size,
		});
	}
	return stored;
}

/** Returns a name without folders, so that a tool's attachment name cannot choose a path. */
function baseNameOf(name: unknown): string {
	const base = String(name ?? "")
		.split(/[/\\]/)
		.at(-1)
		?.replaceAll("\u0000", "")
		.slice(0, 255);
	return base === undefined || base === "" || base === "." || base === ".." ? "attachment" : base;
}

function bytesOf(data: unknown, name: string): Uint8Array {
	if (typeof data === "string" && /^[A-Za-z0-9+/_-]*={0,2}\s*$/.test(data))
		return Buffer.from(data, "base64");
	throw new HoldfastError(
		"invalid_attachment",
		`The \`data\` of the attachment ${JSON.stringify(name)} is not base64. Give the bytes in base64, without a \`data:\` prefix.`,
	);
}
