// Limits of a tenant's concurrent resources: running executions that arrived here, and open streams (keeps I7). A slot is
// taken before the start, and returned at the end.
import { HoldfastError } from "holdfast";

/** Returns a slot; a second call does nothing. */
export type ReleaseSlot = () => void;

/** The slots of all tenants. */
export class Slots {
	readonly #limit: number | undefined;
	readonly #full: (taken: number) => string;
	readonly #byTenant = new Map<string, number>();

	/** `full` is the message for a tenant that has no slot left. */
	constructor(limit: number | undefined, full: (taken: number) => string) {
		this.#limit = limit;
		this.#full = full;
	}

	/** The number of slots taken by all tenants. */
	get size(): number {
		let sum = 0;
		for (const count of this.#byTenant.values()) sum += count;
		return sum;
	}

	/**
	 * Takes a slot.
	 * @throws HoldfastError `rate_limited` if the tenant has none left.
	 */
	take(tenant: string): ReleaseSlot {
		const taken = this.#byTenant.get(tenant) ?? 0;
		if (this.#limit !== undefined && taken >= this.#limit)
			throw new HoldfastError("rate_limited", this.#full(taken), {
				retryable: true,
				data: { retryAfterMs: 1000 },
			});
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
