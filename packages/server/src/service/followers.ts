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

/** How far one who follows a session has read. */
export interface Reading {
	/** Seq of the last entry of which it has an event. */
	readonly seq: number;
	/** What it waits for; undefined while it does something else. */
	readonly next: Promise<IteratorResult<readonly LoggedEvent[], void>> | undefined;
}

/** Events for a follower, who is over with them; and how far it has read, until it is. */
export function followedBy(
	{ over, leave }: Follower,
	events: AsyncGenerator<readonly LoggedEvent[], void, void>,
	ended: () => void,
): AsyncIterableIterator<readonly LoggedEvent[]> & { readonly reading: Reading } {
	const reading: { -readonly [Name in keyof Reading]: Reading[Name] } = { seq: 0, next: undefined };
	const end = (): void => {
		over();
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
			ended();
			await events.return();
			return { done: true, value: undefined };
		},
		[Symbol.asyncIterator]() {
			return this;
		},
	};
}
