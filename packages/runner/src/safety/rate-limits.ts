// Limits how often a tool may be attempted within a period, over all sessions of an agent.
import type { SafetyConfig } from "../contract/index.ts";

/** Times of attempts in chronological order. */
interface Attempts {
	times: number[];
	/** Attempts before this index are too old to count. */
	first: number;
}

/** How many old times are kept before they are dropped together, because dropping one moves all others. */
const mostOld = 1_024;

export class RateLimits {
	readonly #limits: NonNullable<SafetyConfig["requestRateLimit"]>;
	readonly #attempts = new Map<string, Attempts>();

	constructor(limits: SafetyConfig["requestRateLimit"]) {
		this.#limits = limits ?? {};
	}

	/** Counts an attempt; returns false, without counting it, if it exceeds the limit. Takes constant time. */
	attempt(toolId: string, now: number): boolean {
		if (!Object.hasOwn(this.#limits, toolId)) return true;
		const { max, windowMs } = this.#limits[toolId] as { max: number; windowMs: number };
		const known = this.#attempts.get(toolId) ?? { times: [], first: 0 };
		this.#attempts.set(toolId, known);
		const since = now - windowMs;
		while (known.first < known.times.length && (known.times[known.first] as number) <= since) known.first++;
		if (known.first > mostOld && known.first * 2 > known.times.length) {
			known.times = known.times.slice(known.first);
			known.first = 0;
		}
		if (known.times.length - known.first >= max) return false;
		known.times.push(now);
		return true;
	}
}
