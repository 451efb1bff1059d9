// The port of changes: all changes to all sessions of a store, by any process, in one order. Positions only
// increase; a follower stores the last one, and continues after it. Implementations: memory-changes.ts and
// sqlite/sqlite-changes.ts; `hostContract` of @holdfast/testing keeps them equal.
import { checkOptions, HoldfastError, optionNames } from "@holdfast/upp";
import type { MaybePromise } from "./journal.ts";

const watchAllNames = optionNames<WatchAllOptions>({
	after: true,
	until: ["caught-up", "never"],
	signal: "signal",
});

/**
 * A commit to a session. Several commits to one session may be merged into one change, that of the last of them. Deltas
 * between two entries are not included: to get those, follow the session.
 */
export interface Change {
	/** Increases with every change of the store, with gaps. */
	readonly position: number;
	/** The session's key in the store. */
	readonly key: string;
	/** `SessionHead.incarnation` of that session. */
	readonly incarnation: string;
	/** Seq of the session's last entry at that change. */
	readonly seq: number;
	/**
	 * `appended`: entries were added. `changed`: anything else, such as its creation, a fork, an input, a fold.
	 * `deleted`: the session no longer exists.
	 */
	readonly kind: "appended" | "changed" | "deleted";
}

/** Selects the changes to read. */
export interface ReadChangesOptions {
	/** Only changes after this position. Default 0: the last change of every existing session. */
	readonly after?: number;
	/** The maximum number. Default 500. */
	readonly limit?: number;
}

/** The changes of a store. */
export interface ChangeLog {
	/** Returns the position of the last change, after which only future changes follow. */
	position(): MaybePromise<number>;
	/**
	 * Returns changes in the order of their positions. Only an empty result means that no further changes exist.
	 * Rejects with `changes_expired` if the store no longer has a record of the deletions after that position: in that
	 * case, start from 0.
	 */
	read(options?: ReadChangesOptions): MaybePromise<readonly Change[]>;
	/** Calls `changed` soon after a commit to any session, in any process. Returns a function that stops it. */
	watch(changed: () => void): () => void;
}

/** The minimum number of deletions that a store remembers. */
export const rememberedDeletions = 1_000;
/** The default number of changes per read. */
export const changesAtOnce = 500;

/** Where a follower starts and ends. */
export interface WatchAllOptions {
	/** Only changes after this position; `now` for future ones. Default 0: all existing sessions, then future changes. */
	readonly after?: number | "now";
	/** `caught-up`: ends when there are no more changes to read. Default `never`. */
	readonly until?: "caught-up" | "never";
	/** Ends the follower. Default: it ends with the loop that reads it. */
	readonly signal?: AbortSignal;
}

/**
 * Yields every change of a store as it happens, until the signal fires or as `until` defines. Rejects as `ChangeLog.read`
 * does.
 * @example
 * ```ts
 * import { memoryHost } from "holdfast";
 * import { watchAll } from "holdfast/host";
 *
 * const host = memoryHost();
 * const stop = new AbortController();
 * await host.journal.submit("room", { id: "1", kind: "notice", body: "hello" });
 * for await (const { key, kind, position } of watchAll(host.changes, { signal: stop.signal })) {
 * 	console.log(key, kind, position > 0); // room changed true
 * 	stop.abort();
 * }
 * ```
 */
export async function* watchAll(
	changes: ChangeLog,
	options: WatchAllOptions = {},
): AsyncGenerator<Change, void, void> {
	checkOptions(options, watchAllNames, { of: "watchAll()" });
	const { after = 0, until = "never", signal } = options;
	let wake = (): void => {};
	let isNew = false;
	const isOver = (): boolean => signal?.aborted === true;
	const heard = (): void => {
		isNew = true;
		wake();
	};
	const stop = changes.watch(heard);
	signal?.addEventListener("abort", heard);
	try {
		let position = after === "now" ? await changes.position() : after;
		while (!isOver()) {
			isNew = false;
			const page = await changes.read({ after: position });
			for (const change of page) {
				if (isOver()) return;
				yield change;
				position = change.position;
			}
			if (page.length > 0 || isNew) continue;
			if (until === "caught-up") return;
			await new Promise<void>((resolve) => {
				wake = resolve;
			});
		}
	} finally {
		stop();
		signal?.removeEventListener("abort", heard);
	}
}

/** Creates the error for changes that the store no longer remembers. */
export function changesExpired(after: number): HoldfastError {
	return new HoldfastError(
		"changes_expired",
		`The store no longer remembers which sessions were removed after position ${after}. Start from 0, and treat sessions that are not listed as removed.`,
		{ data: { after } },
	);
}
