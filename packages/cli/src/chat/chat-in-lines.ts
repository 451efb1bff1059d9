/**
 * A line-based chat for pipes, screen readers and terminals without control codes. Every complete line is written once
 * and never redrawn.
 */
import type { Interface } from "node:readline";
import { createInterface } from "node:readline";
import { type Output, printable } from "../terminal/index.ts";
import type { Question } from "./chat-transcript.ts";
import type { Conversation } from "./conversation.ts";
import { entryText } from "./entry-text.ts";
import { makePaint } from "./paint.ts";

/** The settings of a line-based chat. */
export interface PlainParts {
	readonly conversation: Conversation;
	readonly input: NodeJS.ReadableStream;
	readonly output: Output;
	/** Whether the input is interactive: questions are then shown, and text typed during a run is sent to the run. */
	readonly isTyped: boolean;
	/** Accepts a line; settles when it has been processed. */
	submit(text: string): Promise<void>;
}

/**
 * Writes the chat until the input ends, or `left` settles. Without a user who could answer it, a question ends the chat
 * too, as does a call whose result comes from elsewhere: it keeps waiting.
 */
export async function chatInLines(parts: PlainParts, left: Promise<void>): Promise<"completed" | "waiting"> {
	const { conversation, input, output, isTyped } = parts;
	const { transcript } = conversation;
	const paint = makePaint("none");
	let written = 0;
	let prompted: string | undefined;
	const over = Promise.withResolvers<"completed" | "waiting">();
	let isOver = false;
	const end = (how: "completed" | "waiting"): void => {
		isOver = true;
		over.resolve(how);
	};
	void left.then(() => end("completed"));
	const write = (): void => {
		const { live } = transcript;
		const entries = transcript.entriesAfter(written);
		for (const entry of entries) {
			// The typed text is already visible.
			if (isTyped && entry.kind === "user") continue;
			output.write(`${prompted === undefined ? "" : "\n"}${entryText(entry, paint, output.columns)}\n`);
			prompted = undefined;
		}
		written += entries.length;
		const idle = live.status === "idle" ? "You: " : undefined;
		const prompt = live.question === undefined ? idle : promptOf(live.question);
		if (isTyped && prompt !== prompted && prompt !== undefined) {
			output.write(prompted === undefined ? prompt : `\n${prompt}`);
			prompted = prompt;
		}
		if (!isTyped && (live.question !== undefined || live.elsewhere !== "")) end("waiting");
	};
	const stop = transcript.subscribe(write);
	write();
	const lines: Interface = createInterface({ input, terminal: false });
	const heard = (async (): Promise<void> => {
		for await (const line of lines) {
			// A pipe cannot wait for a reply: answer each line, and finish earlier work, before reading the next.
			if (!isTyped) await conversation.settled();
			if (isOver) return;
			prompted = undefined;
			if (line.trim() !== "") await parts.submit(line.trim());
			else write();
		}
		if (!isTyped) await conversation.settled();
	})();
	try {
		return await Promise.race([heard.then(() => "completed" as const), over.promise]);
	} finally {
		lines.close();
		stop();
	}
}

function promptOf({ text, choices, draft }: Question): string {
	const answers = choices.map((choice) => `[${choice.label}] ${choice.detail}`).join(", ");
	return [printable(text), printable(draft), answers]
		.filter((part) => part !== "")
		.join(" ")
		.concat(": ");
}
