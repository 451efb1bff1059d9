/** Messages to the current run that it has not been sent yet, so that the user can take them back. */
import type { UserMessage } from "@holdfast/upp";
import type { Transcript } from "./chat-transcript.ts";

/** A message that waits for the end of the current call or answer. */
export interface QueuedMessage {
	readonly text: string;
	readonly attached: Promise<string | UserMessage>;
	/** The output of commands that it carries. */
	readonly asides: readonly string[];
}

export class QueuedMessages {
	readonly #transcript: Transcript;
	#messages: readonly QueuedMessage[] = [];

	constructor(transcript: Transcript) {
		this.#transcript = transcript;
	}

	add(message: QueuedMessage): void {
		message.attached.catch(() => {}); // It is reported when the message is sent.
		this.#messages = [...this.#messages, message];
	}

	/** Returns the messages, which are sent now. They stay on the screen until the run receives them. */
	takeAll(): readonly QueuedMessage[] {
		const messages = this.#messages;
		this.#messages = [];
		return messages;
	}

	/** Returns the first or the last message, and removes it from the screen; undefined if there is none. */
	take(which: "first" | "last"): QueuedMessage | undefined {
		const at = which === "first" ? 0 : this.#messages.length - 1;
		const message = this.#messages[at];
		if (message === undefined) return undefined;
		this.#messages = this.#messages.toSpliced(at, 1);
		const { queued } = this.#transcript.live;
		const shownAt = which === "first" ? queued.indexOf(message.text) : queued.lastIndexOf(message.text);
		this.#transcript.set({ queued: queued.toSpliced(shownAt, 1) });
		return message;
	}
}
