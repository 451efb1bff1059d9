// Random numbers, ids and times that are derived from a seed alone.
import type { Clock, Ids } from "holdfast/host";

/** Returns numbers from 0 up to 1, the same for the same seed and purpose. */
export function seededRandom(seed: number, purpose: string = ""): () => number {
	let state = seed >>> 0;
	for (let at = 0; at < purpose.length; at++) state = Math.imul(state ^ purpose.charCodeAt(at), 0x01000193);
	return () => {
		state = (state + 0x6d2b79f5) >>> 0;
		let mixed = Math.imul(state ^ (state >>> 15), state | 1);
		mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
		return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
	};
}

/** Returns UUIDs of version 4, the same for the same seed. */
export function seededIds(seed: number): Ids {
	const random = seededRandom(seed ^ 0x5bd1e995);
	const hex = (digits: number): string =>
		Array.from({ length: digits }, () => Math.floor(random() * 16).toString(16)).join("");
	return {
		uuid: () =>
			`${hex(8)}-${hex(4)}-4${hex(3)}-${(8 + Math.floor(random() * 4)).toString(16)}${hex(3)}-${hex(12)}`,
	};
}

/** A clock that returns a given time; waits advance it. */
export class FixedClock implements Clock {
	#now: number;
	readonly #start: number;

	/** Milliseconds since the epoch. */
	constructor(now: number) {
		this.#now = now;
		this.#start = now;
	}

	/** Milliseconds since the epoch. */
	now(): number {
		return this.#now;
	}

	/** Milliseconds since the clock was created. */
	monotonic(): number {
		return this.#now - this.#start;
	}

	/** Advances the clock. */
	advance(milliseconds: number): void {
		this.#now += Math.max(0, milliseconds);
	}
}
