// loop(): ask the model, carry out its tool calls, until it calls none. A decider and nothing more.
import { checkOptionNames, optionNames } from "@holdfast/upp";
import type { DecidingStrategy } from "./execution-strategy.ts";
import { readLimit } from "./read-limit.ts";
import { strategy } from "./strategy.ts";

/** Options of `loop()`. */
export interface LoopOptions {
	/** Rounds of tool calls at most, from 1. Default: no limit; with one, the run ends after that round, with the state it has. */
	readonly maxIterations?: number;
}

const loopNames = optionNames<LoopOptions>({ maxIterations: true });

/**
 * The simplest strategy: the model works until it stops calling tools.
 *
 * @throws HoldfastError `invalid_option` for a limit that is no whole number from 1.
 */
export function loop(options: LoopOptions = {}): DecidingStrategy {
	checkOptionNames(options, loopNames, {
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
