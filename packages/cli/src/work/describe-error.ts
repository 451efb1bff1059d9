import { messageOf } from "@holdfast/upp";
import { isHoldfastError } from "holdfast";

/** Describes an error that ends a command in one line. */
export function describeError(error: unknown): string {
	if (isHoldfastError(error)) return `${error.message} (${error.code})`;
	return messageOf(error);
}
