// Retention within a session: settled history becomes one entry, and its old bodies are deleted (keeps I2, I4). Later
// entries keep their positions, so the meaning of a seq never changes.

import { checkOptions, HoldfastError, optionNames } from "@holdfast/upp";
import {
	type Entry,
	foldedFact,
	historyUnsettled,
	JournalReader,
	type SessionState,
	withTools,
} from "../facts/index.ts";
import type { Journal } from "../host/index.ts";
import { readChildStoreKey } from "../host/index.ts";
import { sessionHeld } from "./session-errors.ts";

const foldHistoryNames = optionNames<FoldHistoryOptions>({ before: true });

/** Options of `foldHistory`. */
export interface FoldHistoryOptions {
	/** Folds runs that ended before this time, in milliseconds since the epoch or as a date. */
	readonly before: number | Date;
}

/** What `foldHistory` did. */
export interface FoldedHistory {
	/** Seq of the entry that replaces all entries before it. */
	readonly seq: number;
	/** The number of entries that it replaced. */
	readonly entries: number;
}

/**
 * Folds the old runs of a session into one entry that contains the conversation. State and messages are unchanged; data
 * that only watchers and audits read is dropped (start times of calls, decisions, durations, `details` of tools). It
 * takes effect in one transaction, fenced like any append. Returns undefined if there is nothing to fold. Sessions of
 * sub-agents are not folded, because their parents read how they ended.
 *
 * @param key The key as `journal.list()` returns it; for a session of an agent without a namespace, this is the session's
 * key.
 * @throws HoldfastError `invalid_option` if `before` is not a time, `history_unsettled` while a run is open,
 * `session_held`, `fold_unsupported`, `lease_lost` if another worker appended to the session in the meantime (nothing was
 * changed then), and the errors of reading and appending.
 * @example
 * import { foldHistory } from "holdfast/host";
 * import { sqliteHost } from "holdfast/sqlite";
 *
 * const { journal, close } = sqliteHost("./agent.db");
 * const monthAgo = Date.now() - 30 * 24 * 60 * 60 * 1000;
 * for (const { key, openRunId } of await journal.list()) {
 * 	if (openRunId === undefined) await foldHistory(journal, key, { before: monthAgo });
 * }
 * await close();
 */
export async function foldHistory(
	journal: Journal,
	key: string,
	options: FoldHistoryOptions,
): Promise<FoldedHistory | undefined> {
	checkOptions(options, foldHistoryNames, { of: "foldHistory()" });
	const before = Number((options as FoldHistoryOptions | undefined)?.before);
	// No entry is younger than an invalid time, so everything would be folded.
	if (Number.isNaN(before))
		throw new HoldfastError(
			"invalid_option",
			"The option `before` of foldHistory() must be a time: a date, or milliseconds since the epoch.",
			{ data: { option: "before" } },
		);
	if (readChildStoreKey(key) !== undefined || (await journal.head(key)) === undefined) return undefined;
	const acquired = await journal.acquire(key);
	if (!acquired.ok) throw sessionHeld(key);
	const { lease } = acquired;
	if (lease.openRunId !== undefined) throw historyUnsettled(key, lease.seq);
	const found = await settledBefore(journal, key, { before, until: lease.seq });
	if (found === undefined) return undefined;
	const { last, state, entries } = found;
	const { seq, at, runId } = last;
	await lease.append({ at, runId, facts: [foldedFact(state)], replaces: seq });
	await lease.release();
	return { seq, entries };
}

interface Settled {
	/** The last entry of the last folded run. */
	readonly last: Entry;
	readonly state: SessionState;
	/** The number of entries. */
	readonly entries: number;
}

/** Returns the runs that ended before a time; undefined if there are none or they already are one entry. */
async function settledBefore(
	journal: Journal,
	key: string,
	{ before, until }: { readonly before: number; readonly until: number },
): Promise<Settled | undefined> {
	const reader = new JournalReader(journal, key, { fold: withTools });
	let settled: Settled | undefined;
	let count = 0;
	for (;;) {
		const page = await reader.next();
		for (const { entry, state } of page?.items ?? []) {
			if (entry === undefined || entry.at >= before || entry.seq > until) return settled;
			count++;
			const { kind } = entry.fact;
			if (kind === "run.ended" && count > 1) settled = { last: entry, state, entries: count };
		}
		// If the session is of another incarnation, the append is refused.
		if (page === undefined || page.isCaughtUp) return settled;
	}
}
