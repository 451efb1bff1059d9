// The latest summaries of a session, stored with it: the one that the model is shown, and the one that is prepared for later.
// A process that takes over the session shows the model the same summary as before, and requests none twice. A summary is
// valid only while the messages it represents are unchanged.
import { type Message, UserMessage } from "@holdfast/upp";
import { textHash } from "../../facts/index.ts";
import { type SessionValues, setIfExists } from "../../host/index.ts";
import type { List } from "../../state/index.ts";

const name = "summary";

/** The beginning of a history that a summary replaces. */
export interface Beginning {
	/** The number of messages. */
	readonly cut: number;
	/** The hash of the messages. */
	readonly hash: string;
}

/** A summary, and the beginning that it replaces. */
export interface WrittenSummary extends Beginning {
	readonly summary: UserMessage;
}

interface Kept extends Beginning {
	readonly text: string;
}

/** Returns the stored summaries that represent the beginning of this history, the shortest beginning first. */
export async function keptSummaries(
	values: SessionValues,
	history: List<Message>,
): Promise<readonly WrittenSummary[]> {
	const stored = (await values.get(name)) as Kept | readonly Kept[] | undefined;
	// An earlier release stored one summary.
	const all =
		stored === undefined ? [] : Array.isArray(stored) ? (stored as readonly Kept[]) : [stored as Kept];
	const valid: WrittenSummary[] = [];
	let before: Beginning | undefined;
	for (const { cut, hash, text } of all.toSorted((one, other) => one.cut - other.cut)) {
		if (cut > history.length) break;
		const found = { cut, hash: hashUpTo(cut, history, before) };
		before = found;
		if (found.hash === hash) valid.push({ ...found, summary: new UserMessage(text) });
	}
	return valid;
}

/**
 * Stores the summary that is shown, if there is one, and a prepared one, in place of the previous ones. A session that was
 * deleted in the meantime, also by another process, is not created again.
 */
export async function keepSummaries(
	values: SessionValues,
	summaries: readonly (WrittenSummary | undefined)[],
): Promise<void> {
	const kept = summaries.flatMap((each) =>
		each === undefined ? [] : [{ cut: each.cut, hash: each.hash, text: each.summary.text } satisfies Kept],
	);
	await setIfExists(values, name, kept);
}

/** Copies the stored summaries of a session to its fork. */
export async function copySummaries(from: SessionValues, to: SessionValues): Promise<void> {
	const stored = await from.get(name);
	if (stored !== undefined) await setIfExists(to, name, stored);
}

/** Deletes the stored summaries of a session. */
export async function deleteSummaries(values: SessionValues): Promise<void> {
	await values.delete(name);
}

/**
 * Returns the hash of the messages before `cut`. It continues from that of a shorter beginning of the same history, so
 * the cost is proportional to what was added since (keeps I5).
 */
export function hashUpTo(cut: number, history: List<Message>, from?: Beginning): string {
	let hash = from?.hash ?? "";
	for (const message of history.until(cut).from(from?.cut ?? 0))
		hash = textHash(hash + JSON.stringify(message));
	return hash;
}
