// How many jobs graphile-worker fetches in one statement: as many as there is room for right now, so that nothing waits in this
// process that another one could do. Its local queue fetches a fixed number and keeps what it has no room for, for as long as a run
// takes; no option of it and no hook asks how many, and without a local queue each job is a statement of its own.
import { HoldfastError } from "@holdfast/upp";
import type { WorkerEvents } from "graphile-worker";

/** What is used of graphile-worker's local queue, which says nothing of it in its types. */
interface LocalQueue {
	/** Those who wait for a job. */
	readonly workerQueue: { readonly length: number };
	getJobBatchSize: number;
	fetchTimer: ReturnType<typeof setTimeout> | null;
	fetch(): void;
	getJob(...given: unknown[]): unknown;
	pulse(count: number): void;
}

/** Jobs of one fetch at most: of many that come at once, other processes get theirs. */
const most = 8;
/** Milliseconds after which a queue without room looks by itself. */
const pollMs = 60_000;

/** The parts of a local queue that are used or replaced, and what each is. */
const parts: Readonly<Record<string, (part: unknown) => boolean>> = {
	workerQueue: Array.isArray,
	getJobBatchSize: (part) => typeof part === "number",
	fetchTimer: (part) => part === null || typeof part === "object",
	fetch: (part) => typeof part === "function",
	getJob: (part) => typeof part === "function",
	pulse: (part) => typeof part === "function",
};

/**
 * Has the local queues of a runner fetch as many as there is room for. To be asked when the runner has started: what it returns
 * throws where a release of graphile-worker has no such queue, `journal_failed`.
 */
export function fetchByRoom(events: WorkerEvents): () => void {
	let missing: readonly string[] = ["its event localQueue:init"];
	// What is thrown here nobody would hear of.
	events.on("localQueue:init", ({ localQueue }) => {
		const queue = localQueue as unknown as Record<string, unknown>;
		missing = Object.keys(parts).filter((name) => parts[name]?.(queue[name]) !== true);
		if (missing.length === 0) fit(localQueue as unknown as LocalQueue);
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

function fit(queue: LocalQueue): void {
	const fetch = queue.fetch;
	const getJob = queue.getJob;
	/** Whether there may be jobs for which there was no room. */
	let isHungry = false;
	queue.fetch = () => {
		const room = queue.workerQueue.length;
		isHungry = room === 0;
		if (queue.fetchTimer !== null) clearTimeout(queue.fetchTimer);
		queue.fetchTimer = isHungry ? setTimeout(queue.fetch, pollMs) : null;
		if (isHungry) return;
		// Each size is a prepared statement of its own.
		queue.getJobBatchSize = 2 ** Math.floor(Math.log2(Math.min(room, most)));
		fetch();
	};
	queue.getJob = (...given) => {
		const job = getJob(...given);
		if (isHungry) queue.pulse(1);
		return job;
	};
}
