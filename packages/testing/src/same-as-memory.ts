// @holdfast/testing/same-as-memory: compares a journal with the one in memory over random operations. Requires
// `fast-check`.
import type { MaybePromise } from "holdfast/host";
import type { SameWorld } from "./same-as-memory/memory-comparison.ts";

export type { SameWorld };

/**
 * Fails unless a journal answers like the one in memory for random sequences of writes. Requires `fast-check`, which is
 * loaded when this is called.
 */
export async function sameAsMemory(make: () => MaybePromise<SameWorld>, runs: number): Promise<void> {
	const property = await import("./same-as-memory/memory-comparison.ts");
	await property.sameAsMemory(make, runs);
}
