// Those who follow sessions of a service or wait for them: each may leave, and all do when the service closes (keeps I8).
import type { LoggedEvent } from "holdfast/execute";

/** One who follows or waits. */
export interface Follower {
	/** Fires when the one it was made of does, when it leaves, and when all leave. */
	readonly signal: AbortSignal;
	/** There is nothing more to follow. */
	readonly over: () => void;
	readonly leave: () => void;
}

export class Followers {
	readonly #leave = new Set<() => void>();

	/** Where `isClosed`, it has left already. */
	add(signal: AbortSignal | undefined, isClosed: boolean): Follower {
		const left = new AbortController();
		const over = (): void => {
			this.#leave.delete(leave);
			signal?.removeEventListener("abort", leave);
		};
		const leave = (): void => {
			over();
			left.abort("left"); // without a reason it would make an error each time
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

/** Events for a follower, who is over with them. */
export function followedBy(
	{ over, leave }: Follower,
	events: AsyncGenerator<readonly LoggedEvent[], void, void>,
): AsyncIterableIterator<readonly LoggedEvent[]> {
	return {
		async next() {
			try {
				const next = await events.next();
				if (next.done) over();
				return next;
			} catch (error) {
				over();
				throw error;
			}
		},
		async return() {
			leave();
			await events.return();
			return { done: true, value: undefined };
		},
		[Symbol.asyncIterator]() {
			return this;
		},
	};
}
