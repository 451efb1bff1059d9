// Maps SQLite's result codes to error codes (keeps I9).
import { HoldfastError, isHoldfastError, messageOf } from "@holdfast/upp";
import { journalCorrupt } from "../facts/index.ts";

const busy = 5;
const locked = 6;
const outOfMemory = 7;
const readOnly = 8;
const inputOutput = 10;
const corrupt = 11;
const full = 13;
const cannotOpen = 14;
const tooLarge = 18;
const notADatabase = 26;
/** The shared-memory file could not grow, which is the first sign of a full disk. */
const noRoomForSharedMemory = inputOutput | (19 << 8);

function resultCode(error: unknown): number {
	return error instanceof Error ? Number((error as { errcode?: number }).errcode ?? 0) : 0;
}

/** Whether another connection holds a lock, so that the same call may succeed a moment later. */
export function isBusy(error: unknown): boolean {
	const code = resultCode(error) & 255;
	return code === busy || code === locked;
}

/** Whether the file is not a SQLite database. */
export function isNotADatabase(error: unknown): boolean {
	return (resultCode(error) & 255) === notADatabase;
}

/** Whether the file or its folder is not writable. */
export function isNotWritable(error: unknown): boolean {
	const code = resultCode(error) & 255;
	return code === readOnly || code === cannotOpen;
}

/** Whether the file is damaged, or not a SQLite file. */
export function isDamaged(error: unknown): boolean {
	return (resultCode(error) & 255) === corrupt || isNotADatabase(error);
}

/** Converts an error of SQLite; HoldfastErrors are returned unchanged. */
export function journalError(error: unknown): HoldfastError {
	if (isHoldfastError(error)) return error;
	if (error instanceof SyntaxError) return journalCorrupt("the stored data is not JSON", error);
	const code = resultCode(error);
	switch (code & 255) {
		case busy:
		case locked:
			return new HoldfastError(
				"journal_unavailable",
				"Another program keeps the journal's file locked. Close it, or try again later.",
				{ cause: error, retryable: true },
			);
		case corrupt:
		case notADatabase:
			return journalCorrupt("SQLite cannot read the file", error);
		case full:
			return diskFull(error);
		case tooLarge:
			return new HoldfastError(
				"value_too_large",
				"A single value is larger than the store can hold. Keep large content in files, and refer to it.",
				{ cause: error },
			);
		case cannotOpen:
		case readOnly:
			return new HoldfastError(
				"journal_unavailable",
				"The journal's file cannot be opened or written. Check the path and that this user may read and write it.",
				{ cause: error },
			);
	}
	if (code === noRoomForSharedMemory) return diskFull(error);
	return new HoldfastError(
		"journal_failed",
		`The journal's store failed: ${messageOf(error)}. Everything committed is kept.`,
		{ cause: error, retryable: (code & 255) === inputOutput || (code & 255) === outOfMemory },
	);
}

function diskFull(cause: unknown): HoldfastError {
	return new HoldfastError(
		"disk_full",
		"The journal has no space left. Committed data is safe; free some space and try again.",
		{ cause, retryable: true },
	);
}
