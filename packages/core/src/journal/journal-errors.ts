// The errors of every journal, in one place so that all stores say the same (keeps I9).
import { HoldfastError } from "@holdfast/upp";

/** Another worker raised the session's epoch, or this lease was given up: nothing of the batch was committed. */
export function leaseLost(key: string): HoldfastError {
	return new HoldfastError(
		"lease_lost",
		`The lease on session ${named(key)} stands no more: it was given up, or another worker took or deleted the session. ` +
			"Acquire it again and read on from its journal before you append.",
		{ data: { key } },
	);
}

/** The journal was used after `close()`. */
export function journalClosed(): HoldfastError {
	return new HoldfastError(
		"journal_closed",
		"The journal was closed. Open the host again and repeat the call.",
	);
}

/** A key short enough for a message. */
export function named(key: string): string {
	return JSON.stringify(key.length > 80 ? `${key.slice(0, 77)}...` : key);
}

/** What is stored cannot be what a journal wrote. */
export function journalCorrupt(what: string, cause?: unknown): HoldfastError {
	return new HoldfastError(
		"journal_corrupt",
		`The journal is damaged: ${what}. Nothing was changed; restore a backup of the file.`,
		cause === undefined ? {} : { cause },
	);
}
