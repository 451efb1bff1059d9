// Errors of places that are not there or fail.
import { HoldfastError, isHoldfastError, messageOf } from "@holdfast/upp";

/** A place that cannot be reached now. */
export function unavailable(place: string, why: string, cause?: unknown): HoldfastError {
	return new HoldfastError(
		"DB_UNAVAILABLE",
		`${place} cannot be used: ${why}. See that it is running and reachable, then try again.`,
		{ cause, retryable: true },
	);
}

/** A place that refused something. */
export function failed(place: string, cause: unknown): HoldfastError {
	if (isHoldfastError(cause)) return cause;
	const why = messageOf(cause);
	return new HoldfastError("DB_FAILED", `${place} failed: ${why}. What was written before is kept.`, {
		cause,
	});
}

/** A package that a client needs and that is not installed. */
export function notInstalled(name: string, cause: unknown): HoldfastError {
	return new HoldfastError(
		"DRIVER_NOT_INSTALLED",
		`The package \`${name}\` cannot be loaded. Install it beside @holdfast/memory.`,
		{ cause },
	);
}

/** What is done, or `DB_UNAVAILABLE` when it took longer than that many milliseconds. */
export async function withinTime<Result>(
	milliseconds: number,
	place: string,
	work: Promise<Result>,
): Promise<Result> {
	let timer: NodeJS.Timeout | undefined;
	const late = new Promise<never>((_, reject) => {
		const expire = (): void => reject(unavailable(place, `it did not answer within ${milliseconds} ms`));
		timer = setTimeout(expire, milliseconds);
	});
	try {
		return await Promise.race([work, late]);
	} finally {
		clearTimeout(timer);
	}
}
