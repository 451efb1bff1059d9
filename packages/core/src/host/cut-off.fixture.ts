// Sessions whose process died.
import type { Entry } from "../facts/fact.ts";
import { type MemoryJournal, memoryJournal } from "./memory-journal.ts";

/** Returns a journal with the session `k`, whose only worker died after it committed these entries. */
export function cutOff(entries: readonly Entry[]): MemoryJournal {
	const journal = memoryJournal({ workerId: "dead" });
	const acquired = journal.acquire("k");
	if (acquired instanceof Promise || !acquired.ok) throw new Error("a new session is free");
	for (const { at, runId, fact } of entries) acquired.lease.append({ at, runId, facts: [fact] });
	journal.die();
	return journal.worker("next");
}
