// How many runs a tenant has under way that came in here. A slot is taken before a run is asked for and given back
// when it has ended, whether or not anybody still watches.
import { HoldfastError } from "holdfast";

/** Gives a slot back; a second call does nothing. */
export type ReleaseSlot = () => void;

/** The runs under way. */
export class RunSlots {
	readonly #limit: number | undefined;
	readonly #byTenant = new Map<string, number>();

	constructor(limit: number | undefined) {
		this.#limit = limit;
	}

	/** Runs under way, of all tenants. */
	get size(): number {
		let sum = 0;
		for (const count of this.#byTenant.values()) sum += count;
		return sum;
	}

	/**
	 * Takes a slot.
	 * @throws HoldfastError `rate_limited` when the tenant has no more.
	 */
	take(tenant: string): ReleaseSlot {
		const taken = this.#byTenant.get(tenant) ?? 0;
		if (this.#limit !== undefined && taken >= this.#limit)
			throw new HoldfastError(
				"rate_limited",
				`${taken} runs are under way, which is the limit. Wait until one has ended.`,
				{ retryable: true, data: { retryAfterMs: 1000 } },
			);
		this.#byTenant.set(tenant, taken + 1);
		let isTaken = true;
		return () => {
			if (!isTaken) return;
			isTaken = false;
			const left = (this.#byTenant.get(tenant) ?? 1) - 1;
			if (left === 0) this.#byTenant.delete(tenant);
			else this.#byTenant.set(tenant, left);
		};
	}
}
