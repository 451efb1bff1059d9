/** A prompt of an editor as a user message. */

import type { ContentBlock } from "@agentclientprotocol/sdk/unstable";
import { RequestError } from "@agentclientprotocol/sdk/unstable";
import { UserMessage } from "@holdfast/upp";

type UserContent = Exclude<ConstructorParameters<typeof UserMessage>[0], string>[number];

/**
 * Creates the message. A link becomes its address, which a tool may read; an embedded file becomes its name and its text.
 * @throws RequestError "Invalid params" for an empty prompt, and for content that was not offered.
 */
export function messageOf(prompt: readonly ContentBlock[]): UserMessage {
	const content = prompt.map(contentOf);
	const isEmpty = content.every((block) => block.type === "text" && block.text.trim() === "");
	if (isEmpty) throw RequestError.invalidParams({ prompt: "empty" }, "The prompt is empty. Send some text.");
	return new UserMessage(content);
}

function contentOf(block: ContentBlock): UserContent {
	switch (block.type) {
		case "text":
			return { type: "text", text: block.text };
		case "image":
			checkImage(block);
			return { type: "image", mimeType: block.mimeType, source: { type: "base64", data: block.data } };
		case "resource_link":
			return { type: "text", text: `[${block.name}](${block.uri})` };
		case "resource": {
			const { resource } = block;
			if ("text" in resource)
				return {
					type: "text",
					text: `<file uri=${JSON.stringify(resource.uri)}>\n${resource.text}\n</file>`,
				};
			throw refused("an embedded file that is not text");
		}
		default:
			throw refused(`content of the type ${JSON.stringify(block.type)}`);
	}
}

/** Providers accept images of about this many characters in base64. */
const longestImage = 7_000_000;

function checkImage({ mimeType, data }: { readonly mimeType: string; readonly data: string }): void {
	if (!/^image\/(?:png|jpeg|gif|webp)$/.test(mimeType)) throw refused(`images of the type ${mimeType}`);
	if (data.length > longestImage) throw refused("images of more than 5 MB");
	if (data === "" || !/^[A-Za-z0-9+/]+={0,2}$/.test(data)) throw refused("images that are not base64");
}

function refused(what: string): RequestError {
	return RequestError.invalidParams(
		undefined,
		`The agent does not accept ${what}. Send text, images, links and text files.`,
	);
}
