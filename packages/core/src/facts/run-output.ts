// The state of a run's structured answer: the verdicts of its checks, folded from the recorded decisions (keeps I2).
import type { Issue } from "../schema/index.ts";
import type { Decided } from "./fact.ts";

/** Topic of the decisions that record how an answer was validated against the agent's `output`. */
export const outputTopic = "output-check";

/** Tag of the answers requested because an output is required. */
export const finalOutputTag = "final-output";

/** The verdict on an answer. */
export type OutputVerdict =
	/** `value`: the output, if it is not the `data` of the answer itself. */
	| { readonly ok: true; readonly value?: unknown }
	/** `hopeless`: asking again would not help. */
	| { readonly ok: false; readonly issues: readonly Issue[]; readonly hopeless?: true };

/** The checks of a run so far. */
export interface RunOutput {
	/** How many consecutive answers were invalid. */
	readonly failures: number;
	/** The verdict on the last answer; undefined until it is checked. */
	readonly verdict: OutputVerdict | undefined;
	/** The output; undefined unless the last answer was valid. */
	readonly value?: unknown;
}

/** Returns the checks after one more; `data` is the answer's. Undefined for another decision with the same topic. */
export function checkedOutput(
	{ answer }: Decided,
	before: RunOutput | undefined,
	data: unknown,
): RunOutput | undefined {
	const verdict = readVerdict(answer);
	if (verdict === undefined) return undefined;
	if (!verdict.ok) return { failures: (before?.failures ?? 0) + 1, verdict };
	return { failures: 0, verdict, value: Object.hasOwn(verdict, "value") ? verdict.value : data };
}

/** Returns the checks after a new answer that is not checked yet. */
export function uncheckedOutput({ failures }: RunOutput): RunOutput {
	return { failures, verdict: undefined };
}

/** Reads a decision's answer as a verdict; undefined if a strategy uses the topic for something else. */
export function readVerdict(answer: unknown): OutputVerdict | undefined {
	if (typeof answer !== "object" || answer === null) return undefined;
	const { ok, issues } = answer as { ok?: unknown; issues?: unknown };
	return ok === true || (ok === false && Array.isArray(issues)) ? (answer as OutputVerdict) : undefined;
}
