// The note of a model's retry, and its conversion to an event.
import type { ModelRetryEvent } from "./events.ts";
import type { Fact, Noted } from "./fact.ts";

/** A retry of a model request. */
export type ModelRetry = Pick<ModelRetryEvent, "step" | "attempt" | "delay" | "error">;

/** Creates the note of a retry. */
export function modelRetryNote({ step, ...value }: ModelRetry): Noted {
	return { kind: "note", step, topic: "model-retry", value };
}

/** Returns the retry that a fact records, if any. */
export function modelRetryOf(fact: Fact): ModelRetry | undefined {
	if (fact.kind !== "note" || fact.topic !== "model-retry") return undefined;
	return { step: fact.step, ...(fact.value as Omit<ModelRetry, "step">) };
}
