// The note of a model's retry, and the event that it becomes.
import type { ModelRetryEvent } from "./events.ts";
import type { Fact, Noted } from "./fact.ts";

/** A retry of the model. */
export type ModelRetry = Pick<ModelRetryEvent, "step" | "attempt" | "delay" | "error">;

/** The note of a retry. */
export function modelRetryNote({ step, ...value }: ModelRetry): Noted {
	return { kind: "note", step, topic: "model-retry", value };
}

/** The retry that a fact notes, if it notes one. */
export function modelRetryOf(fact: Fact): ModelRetry | undefined {
	if (fact.kind !== "note" || fact.topic !== "model-retry") return undefined;
	return { step: fact.step, ...(fact.value as Omit<ModelRetry, "step">) };
}
