// How many jobs graphile-worker fetches in one statement: as many as there is room for right now, so that nothing waits in this
// process that another one could do. Its local queue fetches a fixed number and keeps what it has no room for.
import type { WorkerEvents } from "graphile-worker";

/** What is used of graphile-worker's local queue, which says nothing of it in its types; a test holds it against the real one. */
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

/** Has the local queues of a runner fetch as many as there is room for. */
export function fetchByRoom(events: WorkerEvents): void {
	events.on("localQueue:init", ({ localQueue }) => fit(localQueue as unknown as LocalQueue));
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
