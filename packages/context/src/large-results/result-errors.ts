// Errors that the model receives as the result of `read_result`.
import { HoldfastError } from "@holdfast/upp";

/** Creates the error for an id that this session has no stored result of. */
export function resultNotFound(id: string): HoldfastError {
	return new HoldfastError(
		"result_not_found",
		`This session has no stored result with the id ${JSON.stringify(id)}. Use an id from the note of a long result.`,
		{ data: { id } },
	);
}

/** Creates the error for a range that is not one. */
export function resultRangeInvalid(why: string): HoldfastError {
	return new HoldfastError("result_range_invalid", why);
}
