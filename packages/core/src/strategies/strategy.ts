// strategy(): turns a decider into a strategy that streams, checkpoints and is durable.
import { HoldfastError } from "@holdfast/upp";
import type { Decider } from "../engine/index.ts";
import type { DecidingStrategy, ExecutionStrategy } from "./execution-strategy.ts";
import { executeDecider, streamDecider } from "./run-in-context.ts";

/**
 * Creates a strategy from one function: `decide` reads the situation and returns the next action. The engine does the
 * rest.
 *
 * @throws HoldfastError `invalid_strategy` without a name or a function `decide`.
 * @example
 * ```ts
 * import { agent } from "holdfast";
 * import { strategy } from "holdfast/execution";
 * import { scriptedModel } from "@holdfast/testing";
 *
 * // Asks twice: a draft, then a better version of it.
 * const twice = strategy({
 * 	name: "twice",
 * 	decide: ({ last, step }) => {
 * 		if (last.kind === "assistant" && step >= 2) return { kind: "finish" };
 * 		if (step === 0) return { kind: "model", tag: "draft", step: "next" };
 * 		return { kind: "model", tag: "final", step: "next", prompt: "Improve your answer." };
 * 	},
 * });
 * const turn = await agent({ model: scriptedModel(["Good.", "Better."]), execution: twice }).query("Write a word.");
 * console.log(turn.response.text); // Better.
 * ```
 */
export function strategy<Own = unknown>(decider: Decider<Own>): DecidingStrategy {
	const { name, decide, initial, evolve, policy, code } = (decider ?? {}) as Partial<Decider<Own>>;
	if (typeof name !== "string" || typeof decide !== "function") {
		throw new HoldfastError(
			"invalid_strategy",
			"strategy() takes {name, decide}: a string, and a function that names the next action.",
		);
	}
	const own = decider as Decider;
	const made: DecidingStrategy = {
		name: decider.name,
		...(decider.limitsSteps === true ? { limitsSteps: true } : {}),
		decide: (situation) => own.decide(situation),
		...(policy === undefined ? {} : { policy }),
		...(code === undefined ? {} : { code }),
		...(initial === undefined ? {} : { initial: () => own.initial?.() }),
		...(evolve === undefined ? {} : { evolve: evolve.bind(own) as NonNullable<Decider["evolve"]> }),
		execute: (context) => executeDecider(own, context),
		stream: (context) => streamDecider(own, context),
	};
	driven.add(made.execute).add(made.stream);
	return made;
}

/** `execute` and `stream` functions that only drive their decider. */
const driven = new WeakSet<object>();

/** Whether the engine may drive it: it is a decider without a custom `execute` or `stream`. */
export function isDecider(given: ExecutionStrategy | Decider): given is Decider {
	if (typeof given !== "object" || given === null) return false;
	const { decide, execute, stream } = given as Partial<DecidingStrategy>;
	if (typeof decide !== "function") return false;
	return [execute, stream].every((own) => own === undefined || driven.has(own));
}
