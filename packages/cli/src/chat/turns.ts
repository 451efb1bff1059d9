/** The turns of a session, to fork at and to undo. */
import type { Host } from "holdfast";

/** A turn that has ended, or the open one. */
export interface Turn {
	/** From 1. */
	readonly number: number;
	/** Seq of the entry before the turn. */
	readonly before: number;
	/** When it started, in milliseconds since the epoch. */
	readonly at: number;
	/** The user's message. */
	readonly text: string;
}

/** Entries read at once. */
const PAGE = 500;

/** Returns the turns of a session that its journal still contains. */
export async function turnsOf({ journal }: Pick<Host, "journal">, key: string): Promise<readonly Turn[]> {
	const turns: { number: number; before: number; at: number; text: string }[] = [];
	for (let after = 0; ; ) {
		const entries = await journal.read(key, { after, limit: PAGE });
		for (const { seq, at, fact } of entries) {
			if (fact.kind === "run.started")
				turns.push({ number: turns.length + 1, before: seq - 1, at, text: "" });
			const turn = turns.at(-1);
			if (fact.kind === "input" && turn?.text === "") turn.text = fact.message.text;
		}
		const last = entries.at(-1);
		if (last === undefined || entries.length < PAGE) return turns;
		after = last.seq;
	}
}
