// The turns of a session: where each starts and ends, and its input.
import type { ShownEntry } from "../wire/index.ts";

/** A turn. */
export interface Turn {
	/** From 1. */
	readonly number: number;
	readonly runId: string;
	/** Seq of its first entry. */
	readonly begin: number;
	/** Seq of its last entry; absent while it is open. */
	end: number | undefined;
	/** The user's message. */
	text: string;
}

export function turnsOf(entries: readonly ShownEntry[]): readonly Turn[] {
	const turns: Turn[] = [];
	for (const { seq, runId, kind, body } of entries) {
		if (kind === "run.started")
			turns.push({ number: turns.length + 1, runId, begin: seq, end: undefined, text: "" });
		const turn = turns.at(-1);
		if (turn?.runId !== runId) continue;
		if (kind === "input" && turn.text === "") {
			const { content = [] } = body.message as { content?: readonly { type: string; text?: string }[] };
			turn.text = content.map(({ text = "" }) => text).join("");
		}
		if (kind === "run.ended") turn.end = seq;
	}
	return turns;
}
