// The errors that all journals share, in one file so that all stores agree (keeps I9).
import { cutText, HoldfastError } from "@holdfast/upp";

/** Another worker raised the session's epoch, or this lease was released. Nothing of the batch was committed. */
export function leaseLost(key: string): HoldfastError {
	return new HoldfastError(
		"lease_lost",
		`The lease on session ${named(key)} is no longer valid: it was released, or another worker took over or deleted the session. ` +
			"Acquire it again and read its journal before you append.",
		{ data: { key } },
	);
}

/** An input with this dedupe key was already accepted, so this one had no effect. */
export function duplicateInput(key: string): HoldfastError {
	return new HoldfastError(
		"duplicate_input",
		`Session ${named(key)} already accepted an input with this dedupe key: nothing was started again. ` +
			"Read its journal for the outcome.",
		{ data: { key } },
	);
}

/** The events after an entry were requested, but the entry was folded together with later ones. */
export function eventsExpired(key: string, after: number, folded: number): HoldfastError {
	return new HoldfastError(
		"events_expired",
		`Entries ${after + 1} to ${folded - 1} of session ${named(key)} are no longer stored: they were compacted into ` +
			`entry ${folded}. Read the session from its beginning.`,
		{ data: { key, after, folded } },
	);
}

/** The entries to fold may still be needed individually. */
export function historyUnsettled(key: string, seq: number): HoldfastError {
	return new HoldfastError(
		"history_unsettled",
		`The entries of session ${named(key)} up to ${seq} were not compacted: a run is open, or none ended there. ` +
			"Nothing was changed; try again when the run has ended.",
		{ retryable: true, data: { key, seq } },
	);
}

/** The journal keeps every entry permanently. */
export function foldUnsupported(journal: string): HoldfastError {
	return new HoldfastError(
		"fold_unsupported",
		`The journal "${journal}" does not compact old entries. Store sessions in SQLite, or delete whole sessions.`,
	);
}

/** A fork was requested at an entry where a run is open, or that does not exist. */
export function forkUnsettled(key: string, seq: number): HoldfastError {
	return new HoldfastError(
		"fork_unsettled",
		`Session ${named(key)} cannot be forked at entry ${seq}: a run is open there, or there is no such entry. ` +
			"Fork it where a run has ended; nothing was changed.",
		{ data: { key, seq } },
	);
}

/** The session to fork does not exist, or no run in it has ended. */
export function nothingToFork(key: string): HoldfastError {
	return new HoldfastError(
		"fork_unsettled",
		`Session ${named(key)} cannot be forked: no run of it has ended yet. Check the key, or wait for the end of a run.`,
		{ data: { key, seq: 0 } },
	);
}

/** The key for a new session is already in use. */
export function sessionExists(key: string): HoldfastError {
	return new HoldfastError(
		"session_exists",
		`The session ${named(key)} already exists. Choose another key, or delete that session first; nothing was changed.`,
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

/** Shortens a key for a message. */
export function named(key: string): string {
	return JSON.stringify(key.length > 80 ? `${cutText(key, 77)}...` : key);
}

/** Whether an error means that stored data cannot be read: it is damaged, or a newer release wrote it. */
export function isUnreadable(error: unknown): boolean {
	const { code } = (error ?? {}) as { readonly code?: unknown };
	return code === "journal_corrupt" || code === "journal_newer";
}

/** The stored data cannot have been written by a journal. */
export function journalCorrupt(what: string, cause?: unknown): HoldfastError {
	return new HoldfastError(
		"journal_corrupt",
		`The journal is damaged: ${what}. Nothing was changed; restore a backup of the file.`,
		cause === undefined ? {} : { cause },
	);
}
