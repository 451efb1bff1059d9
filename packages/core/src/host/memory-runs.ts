// The runs of an in-memory store, derived from its entries and inboxes.
import type { Store } from "./memory-store.ts";
import type { RunIndex } from "./run-index.ts";

/** Returns the runs of the sessions of a store, as a worker sees them. */
export function memoryRuns(store: Store, ownId: string): RunIndex {
	return {
		locate(runId) {
			for (const { key: storeKey, entries, inbox = [] } of store.sessions.values()) {
				const own = entries.filter((entry) => entry.runId === runId && entry.fact.kind !== "folded");
				const ended = own.find(({ fact }) => fact.kind === "run.ended");
				if (own[0] !== undefined)
					return { place: storeKey, first: own[0].seq, ...(ended === undefined ? {} : { ended: ended.seq }) };
				if (inbox.some((input) => input.kind === "message" && input.runId === runId))
					return { place: storeKey };
			}
			return undefined;
		},
		unfinishedRuns: () =>
			[...store.sessions.values()].flatMap(({ openRunId, inbox = [] }) => [
				...(openRunId === undefined ? [] : [openRunId]),
				...inbox.flatMap(({ kind, runId }) => (kind === "message" && runId !== undefined ? [runId] : [])),
			]),
		isDead: (workerId) => workerId !== ownId && store.workers.get(workerId)?.alive !== true,
	};
}
