// How often a tool may be attempted within a time, over all sessions of an agent.
import type { SafetyConfig } from "../contract/index.ts";

export class RateLimits {
	readonly #limits: NonNullable<SafetyConfig["requestRateLimit"]>;
	/** Times of attempts, oldest first; never more than the limit. */
	readonly #attempts = new Map<string, number[]>();

	constructor(limits: SafetyConfig["requestRateLimit"]) {
		this.#limits = limits ?? {};
	}

	/** Counts an attempt; false where it is one too many, and then it is not counted. */
	attempt(toolId: string, now: number): boolean {
		if (!Object.hasOwn(this.#limits, toolId)) return true;
		const { max, windowMs } = this.#limits[toolId] as { max: number; windowMs: number };
		const since = now - windowMs;
		const recent = (this.#attempts.get(toolId) ?? []).filter((at) => at > since);
		const isWithin = recent.length < max;
		if (isWithin) recent.push(now);
		this.#attempts.set(toolId, recent);
		return isWithin;
	}
}
