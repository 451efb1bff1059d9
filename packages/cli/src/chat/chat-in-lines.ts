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

/** Writes the chat until the input ends, or `left` settles. */
export async function chatInLines(parts: PlainParts, left: Promise<void>): Promise<void> {
	const { conversation, input, output, isTyped } = parts;
	const { transcript } = conversation;
	const paint = makePaint(output.hasColours);
	let written = 0;
	let prompted: string | undefined;
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
	};
	const stop = transcript.subscribe(write);
	write();
	const lines: Interface = createInterface({ input, terminal: false });
	const heard = (async () => {
		for await (const line of lines) {
			prompted = undefined;
			if (line.trim() !== "") await parts.submit(line.trim());
			else write();
			// A pipe cannot wait for a reply: answer each line before reading the next.
			if (!isTyped) await conversation.settled();
		}
	})();
	try {
		await Promise.race([heard, left]);
		if (!isTyped) await conversation.settled();
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
