// Makes graphile-worker fetch as many jobs in one statement as this process has capacity for, so that no job waits here
// that another process could run. Its local queue fetches a fixed number and keeps the excess for as long as a run takes.
// No option or hook changes that, and without a local queue each job takes a separate statement.
import { HoldfastError } from "@holdfast/upp";
import type { WorkerEvents } from "graphile-worker";

/** The used part of graphile-worker's local queue, which is missing from its types. */
interface LocalQueue {
	/** Callers waiting for a job. */
	readonly workerQueue: { readonly length: number };
	getJobBatchSize: number;
	fetch(): void;
}

/** Maximum number of jobs per fetch, so that a burst is spread over several processes. */
const most = 8;

/** The parts of a local queue that are used or replaced, with a check for each. */
const parts: Readonly<Record<string, (part: unknown) => boolean>> = {
	workerQueue: Array.isArray,
	getJobBatchSize: (part) => typeof part === "number",
	fetch: (part) => typeof part === "function",
};

/**
 * Limits the local queues of a runner to their capacity. Call the returned function after the runner has started: it
 * throws `journal_failed` if this release of graphile-worker has no such queue.
 */
export function fetchByRoom(events: WorkerEvents): () => void {
	let missing: readonly string[] = ["its event localQueue:init"];
	/** Queues that may have had jobs but no capacity. */
	const hungry = new Set<LocalQueue>();
	// An error thrown here would not be reported.
	events.on("localQueue:init", ({ localQueue }) => {
		const queue = localQueue as unknown as Record<string, unknown>;
		missing = Object.keys(parts).filter((name) => parts[name]?.(queue[name]) !== true);
		if (missing.length === 0) fit(localQueue as unknown as LocalQueue, hungry);
	});
	// The caller is added to its runner's queue right after this event.
	events.on("worker:getJob:start", () => {
		for (const queue of hungry) queueMicrotask(() => hungry.has(queue) && queue.fetch());
	});
	events.on("localQueue:setMode", ({ localQueue, newMode }) => {
		if (newMode === "RELEASED") hungry.delete(localQueue as unknown as LocalQueue);
	});
	return () => {
		if (missing.length === 0) return;
		throw new HoldfastError(
			"journal_failed",
			`This release of graphile-worker is not one that @holdfast/postgres works with: it lacks ${missing.join(", ")}. Install graphile-worker ~0.18.0.`,
			{ data: { missing } },
		);
	};
}

function fit(queue: LocalQueue, hungry: Set<LocalQueue>): void {
	const fetch = queue.fetch;
	queue.fetch = () => {
		const room = queue.workerQueue.length;
		if (room === 0) {
			hungry.add(queue);
			return;
		}
		hungry.delete(queue);
		// Each size is a separate prepared statement.
		queue.getJobBatchSize = 2 ** Math.floor(Math.log2(Math.min(room, most)));
		fetch();
	};
}
