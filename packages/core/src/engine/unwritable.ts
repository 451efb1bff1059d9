// Why a commit was refused: facts that cannot be written are the fault of who handed their content in, and fail the run; all
// else is the store's, and leaves the run to be resumed.
import { HoldfastError, isHoldfastError } from "@holdfast/upp";
import { encodeFact } from "../facts/index.ts";
import type { Append } from "../host/index.ts";
import { CommitFailed } from "./stopped.ts";

/** Throws what a refused commit comes to. Looked at only then: stores write facts down themselves. */
export function refusedCommit({ facts, chunks = [] }: Append, refusal: unknown): never {
	for (const fact of facts) check(fact.kind, () => encodeFact(fact));
	for (const { event } of chunks) check("what the model said", () => JSON.stringify(event));
	if (isTooLarge(refusal)) throw refusal;
	throw new CommitFailed(refusal);
}

/** Whether a store refused content because of its size: it would refuse it again. */
export function isTooLarge(error: unknown): boolean {
	return isHoldfastError(error) && error.code === "value_too_large";
}

function check(kind: string, write: () => unknown): void {
	try {
		write();
	} catch (error) {
		throw isHoldfastError(error) ? error : unwritable(kind, error);
	}
}

function unwritable(kind: string, cause: unknown): HoldfastError {
	const message = cause instanceof Error ? cause.message : "it threw something that is no error";
	return new HoldfastError(
		"unserialisable_value",
		`What was to be recorded as "${kind}" cannot be stored as JSON: ${message}. Leave it out or turn it into plain data.`,
		{ cause },
	);
}
