// Forks: a session that starts with a copy of another's settled entries, under its own key. The copied runs have ended.
// Later runs have new ids, and therefore idempotency keys that no other session ever uses (keeps I3).
import { HoldfastError } from "@holdfast/upp";
import { entriesBack, forkUnsettled, nothingToFork } from "../facts/index.ts";
import type { Journal } from "../host/index.ts";

/** Options of `session.fork`. */
export interface ForkOptions {
	/**
	 * Where to fork: at the end of the run with this id, or at the entry with this seq. Default: the end of the last run
	 * that ended.
	 */
	readonly at?: string | number;
}

/** Returns the seq of the entry up to which a session is copied. No run may be open there. */
export async function forkPoint(journal: Journal, from: string, { at }: ForkOptions): Promise<number> {
	if (typeof at === "number") return at;
	const seq = await (at === undefined ? lastEnd(journal, from) : endOf(journal, from, at));
	if (seq === 0) throw nothingToFork(from);
	return seq;
}

/** Returns the seq of the last entry before the open run, or of the last entry if no run is open. */
async function lastEnd(journal: Journal, storeKey: string): Promise<number> {
	const { seq = 0, openRunId } = (await journal.head(storeKey)) ?? {};
	if (openRunId === undefined) return seq;
	for await (const { seq: at, runId, fact } of entriesBack(journal, storeKey, seq)) {
		if (fact.kind === "run.started" && runId === openRunId) return at - 1;
	}
	throw forkUnsettled(storeKey, seq);
}

/** Returns the seq of the last entry of a run. */
async function endOf(journal: Journal, storeKey: string, runId: string): Promise<number> {
	const { seq = 0 } = (await journal.head(storeKey)) ?? {};
	for await (const entry of entriesBack(journal, storeKey, seq)) if (entry.runId === runId) return entry.seq;
	throw new HoldfastError(
		"run_not_found",
		`The session has no run "${runId}" that it could be forked at. Check the id; old runs may have been compacted.`,
		{ data: { runId } },
	);
}
