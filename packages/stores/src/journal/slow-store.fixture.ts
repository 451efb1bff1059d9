// A store that takes its time, by numbers that are the same for the same seed.
import type { SessionStore } from "holdfast/host";

/** Numbers below one, the same for the same seed. */
export function randomNumbers(seed: number): () => number {
	let state = seed;
	return () => {
		state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
		return state / 2_147_483_648;
	};
}

/** A store that pauses before and after each call. */
export function pausing(pause: () => Promise<void>, inner: SessionStore): SessionStore {
	const slowly = async <T>(call: () => Promise<T>): Promise<T> => {
		await pause();
		const result = await call();
		await pause();
		return result;
	};
	return {
		load: (key) => slowly(() => inner.load(key)),
		commit: (key, next, options) => slowly(() => inner.commit(key, next, options)),
		delete: (key) => slowly(() => inner.delete(key)),
	};
}
