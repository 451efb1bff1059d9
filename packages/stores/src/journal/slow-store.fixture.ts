// A store and a tool that take their time, by numbers that are the same for the same seed.
import type { Tool } from "@holdfast/upp";
import { tool } from "holdfast";
import type { SessionStore } from "holdfast/host";

/** Numbers below one, the same for the same seed. */
export function randomNumbers(seed: number): () => number {
	let state = seed;
	return () => {
		state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
		return state / 2_147_483_648;
	};
}

/** Pauses for up to seven ticks, and now and then for a turn of the event loop. */
export function ticks(random: () => number): () => Promise<void> {
	return async () => {
		for (let left = Math.floor(random() * 8); left > 0; left--) await null;
		if (random() < 0.05) await new Promise((resolve) => setImmediate(resolve));
	};
}

/** A tool that pauses before it is done. */
export function slowTool(name: string, pause: () => Promise<void>): Tool {
	return tool({
		name,
		description: "Takes its time.",
		parameters: { type: "object", properties: {} },
		run: async () => {
			await pause();
			return "seen";
		},
	});
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
