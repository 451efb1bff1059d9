// Errors of unavailable or failing storages.
import {
	type DurationRange,
	durationFault,
	HoldfastError,
	isHoldfastError,
	messageOf,
	startTimer,
} from "@holdfast/upp";

/** Creates the error for a storage that is unreachable. */
export function unavailable(place: string, why: string, cause?: unknown): HoldfastError {
	return new HoldfastError(
		"DB_UNAVAILABLE",
		`${place} cannot be used: ${why}. Check that it is running and reachable, then try again.`,
		{ cause, retryable: true },
	);
}

/** Creates the error for a storage that rejected an operation. */
export function failed(place: string, cause: unknown): HoldfastError {
	if (isHoldfastError(cause)) return cause;
	const why = messageOf(cause);
	return new HoldfastError("DB_FAILED", `${place} failed: ${why}. Earlier writes are kept.`, {
		cause,
	});
}

/** Creates the error for a record that the storage returns in an unknown form. */
export function damaged(place: string, cause?: unknown): HoldfastError {
	return new HoldfastError(
		"RECORD_DAMAGED",
		`The record at ${place} is damaged. Write the value again, or restore the store from a backup.`,
		{ cause },
	);
}

/** Creates the error for a required package that is not installed. */
export function notInstalled(name: string, cause: unknown): HoldfastError {
	return new HoldfastError(
		"DRIVER_NOT_INSTALLED",
		`The package \`${name}\` cannot be loaded. Install it next to @holdfast/memory.`,
		{ cause },
	);
}

/** Validates a duration among the options, in milliseconds. @throws HoldfastError `OPTION_INVALID`. */
export function duration(
	name: string,
	value: number | undefined,
	standard: number,
	range?: DurationRange,
): number {
	const fault = value === undefined ? undefined : durationFault(value, range);
	if (fault === undefined) return value ?? standard;
	throw new HoldfastError("OPTION_INVALID", `\`${name}\` is ${String(value)}. It must be ${fault}.`);
}

/** Returns the result; throws `DB_UNAVAILABLE` after the given number of milliseconds. */
export async function withinTime<Result>(
	milliseconds: number,
	place: string,
	work: Promise<Result>,
): Promise<Result> {
	let callOff = (): void => {};
	const late = new Promise<never>((_, reject) => {
		const expire = (): void => reject(unavailable(place, `it did not answer within ${milliseconds} ms`));
		callOff = startTimer(milliseconds, expire);
	});
	try {
		return await Promise.race([work, late]);
	} finally {
		callOff();
	}
}
