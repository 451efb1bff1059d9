// The port of durable timers: each belongs to a session, has a due time, and is kept until its claimant settles it, so
// that it fires at least once. Implementations: memory-timers.ts and sqlite/sqlite-timers.ts; `hostContract` of
// @holdfast/testing keeps them equal.
//
// A timer is pending until its time, then due. A claim reserves it for a while; if it is not settled by then, it is due
// again. `settle`, `cancel` and the removal of its session end it. Setting it again makes it pending and voids the claim.
import type { MaybePromise } from "./journal.ts";

/** Work scheduled for a time. */
export interface Timer {
	/** The session that it belongs to. It is deleted with the session. */
	readonly key: string;
	/** Unique within the session: setting a timer with the same name replaces it. */
	readonly name: string;
	/** In milliseconds since the epoch. */
	readonly wakeAt: number;
	/**
	 * JSON-safe value (see upp's encodeValue). Default: undefined. If the stored value is damaged, reading it throws
	 * `journal_corrupt`; the timer can still be cancelled.
	 */
	readonly body?: unknown;
}

/** A due timer with a temporary claim. */
export interface ClaimedTimer extends Timer {
	/** The incarnation of its session. */
	readonly incarnation: string;
	/** Identifies this claim. */
	readonly claim: string;
	/** How often it was claimed, including this time. */
	readonly attempt: number;
}

/** Selects the timers to claim. */
export interface ClaimOptions {
	/** Only timers that are due at this time, in milliseconds since the epoch. */
	readonly now: number;
	/**
	 * How long the claim is valid, in milliseconds. Default 30,000. With a lower value, the timers of a dead claimant are
	 * due again sooner.
	 */
	readonly leaseMs?: number;
	/** The maximum number, earliest due first. Default 100. */
	readonly limit?: number;
	/**
	 * Only timers of sessions in a namespace; null: of sessions in none, including child sessions. Default: all. Due
	 * timers of other namespaces that remain unclaimed have to be skipped each time.
	 */
	readonly namespace?: string | null;
}

/** Stores the timers of all sessions. Pending ones cost nothing until they are due. */
export interface TimerStore {
	/** Sets a timer, which is durable once this resolves. Creates the session if it is new. */
	set(timer: Timer): MaybePromise<void>;
	/** Removes a timer, claimed or not. Returns whether it existed. */
	cancel(key: string, name: string): MaybePromise<boolean>;
	/** Claims timers that are due. */
	claim(options: ClaimOptions): MaybePromise<readonly ClaimedTimer[]>;
	/**
	 * Ends a claimed timer. Returns false if the claim is void: it was settled, cancelled, set again or claimed by
	 * another.
	 */
	settle(timer: Pick<ClaimedTimer, "key" | "name" | "claim">): MaybePromise<boolean>;
	/**
	 * Returns when the next timer is due, in milliseconds since the epoch; undefined if there is none. The time may be in
	 * the past, unless `after` limits it to later ones.
	 */
	nextDue(options?: { readonly after?: number }): MaybePromise<number | undefined>;
	/** Returns the timers of a session, in the order of their names. */
	list(key: string): MaybePromise<readonly Timer[]>;
	/** Calls `changed` whenever `nextDue()` may have become earlier. Returns a function that stops it. */
	watch(changed: () => void): () => void;
}

/** The default validity of a claim in milliseconds. */
export const claimLease = 30_000;
/** The default number of timers per claim. */
export const claimAtOnce = 100;
