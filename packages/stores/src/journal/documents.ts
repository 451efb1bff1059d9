// Calls of the session store, exactly as its interface defines them: only load, commit and delete; versions are passed
// back unchanged, and failures are reported with journal error codes (keeps I9).
import { HoldfastError, isHoldfastError, messageOf } from "@holdfast/upp";
import type { CommitResult, SessionStore } from "holdfast/host";
import { named } from "holdfast/host";

/** An opaque token of the store, only passed back to it. */
export type Version = string;

export interface Loaded {
	readonly state: unknown;
	readonly version: Version;
}

/** Documents loaded or deleted concurrently. */
export const atOnce = 16;

export async function loadDocument(store: SessionStore, key: string): Promise<Loaded | undefined> {
	let loaded: Loaded | undefined;
	try {
		loaded = (await store.load(key)) ?? undefined;
	} catch (error) {
		throw storeFailed(error);
	}
	if (loaded === undefined || isVersion(loaded.version)) return loaded;
	throw storeFailed(new TypeError("load() returned neither null nor {state, version}"));
}

/** Commits a document; returns the new version, or undefined if the stored version is not the expected one. */
export async function commitDocument(
	store: SessionStore,
	key: string,
	state: unknown,
	expectedVersion: Version | null,
): Promise<{ readonly version: Version } | undefined> {
	let result: Partial<CommitResult & { ok: true }> | null | undefined;
	try {
		result = (await store.commit(key, { state }, { expectedVersion })) as typeof result;
	} catch (error) {
		throw storeFailed(error);
	}
	if (result?.ok === true && isVersion(result.version)) return { version: result.version };
	if ((result as { ok?: unknown } | null | undefined)?.ok === false) return undefined;
	throw storeFailed(new TypeError("commit() gave neither {ok: true, version} nor {ok: false}"));
}

/** The form is irrelevant: the token is only passed back. */
function isVersion(version: unknown): version is Version {
	return version !== undefined && version !== null;
}

export async function deleteDocuments(store: SessionStore, keys: readonly string[]): Promise<void> {
	for (let at = 0; at < keys.length; at += atOnce) {
		try {
			await Promise.all(keys.slice(at, at + atOnce).map((key) => store.delete(key)));
		} catch (error) {
			throw storeFailed(error);
		}
	}
}

/** Another worker has changed the session: its writes stay. */
export function sessionConflict(key: string): HoldfastError {
	return new HoldfastError(
		"session_conflict",
		`Another writer changed session ${named(key)} in its store. Its state stays, none of this commit ` +
			"was stored. Send again: Holdfast then reads the session again.",
		{ retryable: true, data: { key } },
	);
}

function storeFailed(error: unknown): HoldfastError {
	if (isHoldfastError(error)) return error as HoldfastError;
	const code = (error as { code?: unknown } | null)?.code;
	if (code === "ENOSPC" || code === "EDQUOT") {
		return new HoldfastError(
			"disk_full",
			"The session store has no space left. Committed data is safe; free some space and try again.",
			{ cause: error, retryable: true },
		);
	}
	const message = messageOf(error);
	return new HoldfastError(
		"journal_failed",
		`The session store failed: ${message}. Everything committed is kept.`,
		{ cause: error, retryable: true },
	);
}
