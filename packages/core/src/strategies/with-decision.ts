// A decider with a different `decide` function; it keeps its own fold.
import type { Decider } from "../engine/index.ts";

/** Returns the decider with this `decide` function. */
export function withDecision(decider: Decider, decide: Decider["decide"]): Decider {
	const { initial, evolve } = decider;
	return {
		name: decider.name,
		decide,
		...(initial === undefined ? {} : { initial: () => initial.call(decider) }),
		...(evolve === undefined ? {} : { evolve: (own, entry) => evolve.call(decider, own, entry) }),
	};
}
