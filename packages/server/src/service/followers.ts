// The followers of a service's sessions, and requests that wait for them: each may leave, and all do when the service
// closes (keeps I8).
import type { Host } from "holdfast";
import type { ExecuteSession, LoggedEvent } from "holdfast/execute";

/** A follower, or a request that waits. */
export interface Follower {
	/** Fires when the given signal does, when this follower leaves, and when all leave. */
	readonly signal: AbortSignal;
	/** Called when there is nothing more to follow. */
	readonly over: () => void;
	readonly leave: () => void;
}

export class Followers {
	readonly #leave = new Set<() => void>();

	/** If `isClosed`, the follower has left already. */
	add(signal: AbortSignal | undefined, isClosed: boolean): Follower {
		const left = new AbortController();
		const over = (): void => {
			this.#leave.delete(leave);
			signal?.removeEventListener("abort", leave);
		};
		const leave = (): void => {
			over();
			left.abort("left"); // without a reason it would create an error each time
		};
		this.#leave.add(leave);
		signal?.addEventListener("abort", leave);
		if (isClosed || signal?.aborted) leave();
		return { signal: left.signal, over, leave };
	}

	leaveAll(): void {
		for (const leave of [...this.#leave]) leave();
	}
}

/** How far a follower has read a session. */
export interface Reading {
	/** Seq of the last entry with an event delivered to it. */
	readonly seq: number;
	/** The pending read; undefined while it is busy. */
	readonly next: Promise<IteratorResult<readonly LoggedEvent[], void>> | undefined;
	readonly isOver: boolean;
}

/** Milliseconds to wait for the watchers of a service's last runs. */
const lastReadMs = 1_000;

/** Waits until the watchers of the last runs have received their events: a store may be slower than a run. */
export async function readToEnd(
	{ journal }: Pick<Host, "journal">,
	watched: readonly (readonly [Reading, Pick<ExecuteSession, "storeKey">])[],
): Promise<void> {
	let isLate = false;
	let timer: ReturnType<typeof setTimeout> | undefined;
	const late = new Promise<void>((resolve) => {
		timer = setTimeout(resolve, lastReadMs);
	}).then(() => {
		isLate = true;
	});
	const read = watched.map(async ([reading, { storeKey }]) => {
		const { seq = 0 } = (await journal.head(storeKey)) ?? {};
		while (!isLate && !reading.isOver && reading.seq < seq)
			await (reading.next?.catch(() => {}) ?? new Promise((resolve) => setTimeout(resolve, 1)));
	});
	await Promise.race([Promise.all(read), late]);
	clearTimeout(timer);
}

/** Returns the events for a follower and tracks how far it has read. The follower leaves when the events end. */
export function followedBy(
	{ over, leave }: Follower,
	events: AsyncGenerator<readonly LoggedEvent[], void, void>,
	ended: () => void,
): AsyncIterableIterator<readonly LoggedEvent[]> & { readonly reading: Reading } {
	const reading: { -readonly [Name in keyof Reading]: Reading[Name] } = {
		seq: 0,
		next: undefined,
		isOver: false,
	};
	const end = (): void => {
		over();
		reading.isOver = true;
		ended();
	};
	return {
		reading,
		async next() {
			try {
				reading.next = events.next();
				const next = await reading.next;
				reading.next = undefined;
				if (next.done) end();
				else reading.seq = Number.parseInt(next.value.at(-1)?.id ?? `${reading.seq}`, 10);
				return next;
			} catch (error) {
				reading.next = undefined;
				end();
				throw error;
			}
		},
		async return() {
			leave();
			end();
			await events.return();
			return { done: true, value: undefined };
		},
		[Symbol.asyncIterator]() {
			return this;
		},
	};
}
