// The latest summary of a session, stored with it. A process that takes over the session shows the model the same summary
// as before, and requests none twice. It is valid only while the messages it represents are unchanged.
import { type Message, UserMessage } from "@holdfast/upp";
import { textHash } from "../../facts/index.ts";
import type { SessionValues } from "../../host/index.ts";

const name = "summary";

/** The beginning of a history that a summary replaces. */
export interface Beginning {
	/** The number of messages. */
	readonly cut: number;
	/** The hash of the messages. */
	readonly hash: string;
}

interface Kept extends Beginning {
	readonly text: string;
}

/** Returns the stored summary if it represents the beginning of these messages. */
export async function keptSummary(
	values: SessionValues,
	messages: readonly Message[],
): Promise<(Beginning & { readonly summary: UserMessage }) | undefined> {
	const kept = (await values.get(name)) as Kept | undefined;
	if (kept === undefined || kept.cut > messages.length) return undefined;
	const { cut, hash, text } = kept;
	return hashUpTo(cut, messages) === hash ? { cut, hash, summary: new UserMessage(text) } : undefined;
}

/** Stores it in place of the previous one. */
export async function keepSummary(
	values: SessionValues,
	{ cut, hash, summary }: Beginning & { readonly summary: UserMessage },
): Promise<void> {
	await values.set(name, { cut, hash, text: summary.text } satisfies Kept);
}

/**
 * Returns the hash of the messages before `cut`. It continues from that of a shorter beginning of the same history, so
 * the cost is proportional to what was added since (keeps I5).
 */
export function hashUpTo(cut: number, messages: readonly Message[], from?: Beginning): string {
	let hash = from?.hash ?? "";
	for (const message of messages.slice(from?.cut ?? 0, cut)) hash = textHash(hash + JSON.stringify(message));
	return hash;
}
