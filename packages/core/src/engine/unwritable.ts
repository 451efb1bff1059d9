// Explains why a commit was refused. If facts cannot be serialised, the code that supplied their content is at fault
// and the run fails. After any other refusal by the store, the run stays open to be resumed.
import { HoldfastError, isHoldfastError } from "@holdfast/upp";
import { encodeFact } from "../facts/index.ts";
import type { Append } from "../host/index.ts";
import { CommitFailed } from "./stopped.ts";

/**
 * Throws the error that a refused commit results in. Facts are examined only after a refusal, because stores serialise
 * them themselves.
 */
export function refusedCommit({ facts, chunks = [] }: Append, refusal: unknown): never {
	for (const fact of facts) check(fact.kind, () => encodeFact(fact));
	for (const { event } of chunks) check("the model's answer", () => JSON.stringify(event));
	if (isTooLarge(refusal)) throw refusal;
	throw new CommitFailed(refusal);
}

/** Whether a store refused content because of its size, and so would refuse it again. */
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
	const message = cause instanceof Error ? cause.message : "it threw a value that is not an error";
	return new HoldfastError(
		"unserialisable_value",
		`The "${kind}" entry cannot be stored as JSON: ${message}. Remove the value or convert it to plain data.`,
		{ cause },
	);
}
