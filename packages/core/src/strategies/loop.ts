// loop(): asks the model and runs its tool calls, until it makes none. Purely a decider.
import { checkOptions, optionNames } from "@holdfast/upp";
import type { DecidingStrategy } from "./execution-strategy.ts";
import { readLimit } from "./read-limit.ts";
import { strategy } from "./strategy.ts";

/** Options of `loop()`. */
export interface LoopOptions {
	/**
	 * The maximum number of rounds of tool calls, from 1. Default: no limit. With a limit, the run ends after that round,
	 * with its state so far.
	 */
	readonly maxIterations?: number;
}

const loopNames = optionNames<LoopOptions>({ maxIterations: true });

/**
 * The simplest strategy: the model works until it stops calling tools.
 *
 * @throws HoldfastError `invalid_option` for a limit that is not an integer of at least 1.
 */
export function loop(options: LoopOptions = {}): DecidingStrategy {
	checkOptions(options, loopNames, {
		of: "loop()",
		instead: {
			maxSteps: "`maxIterations` limits the model calls; `maxSteps` of the agent limits the steps of a run.",
		},
	});
	const limit = readLimit(options.maxIterations, "maxIterations");
	return strategy({
		name: "loop",
		...(options.maxIterations === undefined ? {} : { limitsSteps: true }),
		decide({ last, rounds }) {
			if (last.kind === "assistant") return { kind: "finish" };
			if (last.kind === "results" && rounds >= limit) return { kind: "finish" };
			return { kind: "model", tag: "act", step: "next", answered: "finishes" };
		},
	});
}
