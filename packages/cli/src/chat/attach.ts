/** What a message carries besides its text: mentioned files, images and sessions, and the output of the user's commands. */
import { UserMessage } from "@holdfast/upp";
import type { Agent, Host } from "holdfast";
import { oneLine } from "../terminal/index.ts";
import { type Setup, takesImages } from "../work/index.ts";
import type { Transcript } from "./chat-transcript.ts";
import type { ChosenImages } from "./images.ts";
import { withFiles } from "./mentions.ts";
import { withSessions } from "./pickers.ts";

/** The part of a conversation that the attachments come from. */
interface Attaching {
	readonly host: Host;
	readonly agent: Agent;
	readonly setup: Setup;
	readonly transcript: Transcript;
	/** Images that the user chose, which may be outside the folder. */
	readonly chosenImages: ChosenImages;
}

/** Returns the message with its attachments, and notes them. `asides` are put after its text. */
export async function attach(
	message: string,
	asides: readonly string[],
	conversation: Attaching,
): Promise<string | UserMessage> {
	const { setup, transcript, agent } = conversation;
	const said = [message, ...asides].join("\n\n");
	const isAssistant = setup.agent === undefined;
	const canSee = takesImages(agent.model) ? "images" : "no images";
	const what = isAssistant ? "all files" : "images only";
	const found = await withFiles(message, setup.dir, what, canSee, conversation.chosenImages);
	const note = (what: string, names: readonly string[], tone: "quiet" | "warning"): void => {
		if (names.length > 0)
			transcript.note(`${what}${names.map((name) => oneLine(name, 300)).join(", ")}`, tone);
	};
	note("Read ", found.files, "quiet");
	note(
		"Attached ",
		found.images.map(({ path }) => path),
		"quiet",
	);
	for (const problem of found.problems) note("", [problem], "warning");
	let text = said + found.text.slice(message.length);
	if (isAssistant) {
		const sessions = await withSessions(message, conversation);
		note("Read the sessions ", sessions.keys, "quiet");
		text += sessions.text.slice(message.length);
	}
	if (found.images.length === 0) return text;
	return new UserMessage([{ type: "text", text }, ...found.images.map(({ image }) => image)]);
}
