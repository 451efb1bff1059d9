// How many jobs graphile-worker fetches in one statement: as many as there is room for right now, so that nothing waits in this
// process that another one could do. Its local queue fetches a fixed number and keeps what it has no room for, for as long as a run
// takes; no option of it and no hook asks how many, and without a local queue each job is a statement of its own.
import { HoldfastError } from "@holdfast/upp";
import type { WorkerEvents } from "graphile-worker";

/** The used part of graphile-worker's local queue, which is missing from its types. */
interface LocalQueue {
	/** Those who wait for a job. */
	readonly workerQueue: { readonly length: number };
	getJobBatchSize: number;
	fetch(): void;
}

/** Jobs of one fetch at most: of many that come at once, other processes get theirs. */
const most = 8;

/** The parts of a local queue that are used or replaced, and what each is. */
const parts: Readonly<Record<string, (part: unknown) => boolean>> = {
	workerQueue: Array.isArray,
	getJobBatchSize: (part) => typeof part === "number",
	fetch: (part) => typeof part === "function",
};

/**
 * Has the local queues of a runner fetch as many as there is room for. To be asked when the runner has started: what it returns
 * throws where a release of graphile-worker has no such queue, `journal_failed`.
 */
export function fetchByRoom(events: WorkerEvents): () => void {
	let missing: readonly string[] = ["its event localQueue:init"];
	/** Queues for which there may be jobs and was no room. */
	const hungry = new Set<LocalQueue>();
	// An error thrown here would go unnoticed.
	events.on("localQueue:init", ({ localQueue }) => {
		const queue = localQueue as unknown as Record<string, unknown>;
		missing = Object.keys(parts).filter((name) => parts[name]?.(queue[name]) !== true);
		if (missing.length === 0) fit(localQueue as unknown as LocalQueue, hungry);
	});
	// The caller enters the queue of its runner right after this.
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
		// Each size is a prepared statement of its own.
		queue.getJobBatchSize = 2 ** Math.floor(Math.log2(Math.min(room, most)));
		fetch();
	};
}
