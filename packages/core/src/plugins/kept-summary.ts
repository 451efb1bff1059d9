// The latest summary of a session, kept beside it: a process that takes the session over shows the model what the one
// before it showed, and asks for no summary twice. It counts only while what it stands for is as it was.
import { type Message, UserMessage } from "@holdfast/upp";
import { textHash } from "../engine/index.ts";
import type { SessionValues } from "./session-values.ts";

const name = "summary";

interface Kept {
	/** How many messages at the beginning it stands for, and what they were. */
	readonly cut: number;
	readonly covered: string;
	readonly text: string;
}

/** The summary that is kept, if it stands for the beginning of these messages. */
export async function keptSummary(
	values: SessionValues,
	messages: readonly Message[],
): Promise<{ readonly cut: number; readonly summary: UserMessage } | undefined> {
	const kept = (await values.get(name)) as Kept | undefined;
	if (kept === undefined || kept.cut > messages.length || kept.covered !== hashOf(messages, kept.cut))
		return undefined;
	return { cut: kept.cut, summary: new UserMessage(kept.text) };
}

/** Keeps it in place of the one before it. */
export async function keepSummary(
	values: SessionValues,
	messages: readonly Message[],
	cut: number,
	{ text }: UserMessage,
): Promise<void> {
	await values.set(name, { cut, covered: hashOf(messages, cut), text } satisfies Kept);
}

function hashOf(messages: readonly Message[], cut: number): string {
	return textHash(JSON.stringify(messages.slice(0, cut)));
}
