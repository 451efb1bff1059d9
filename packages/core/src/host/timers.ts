// The port of durable timers: each belongs to a session, has a due time, and stays until its claimant settles it, so that
// it fires at least once. Implementations: memory-timers.ts and sqlite/sqlite-timers.ts; `hostContract` of
// @holdfast/testing keeps them equal.
//
// A timer is pending until its time, then due. A claim reserves it for a while; if it is not settled by then, it is due
// again. `settle`, `cancel` and the removal of its session end it; setting it again makes it pending and voids the claim.
import type { MaybePromise } from "./journal.ts";

/** Something to be done at a time. */
export interface Timer {
	/** The session it belongs to, and is deleted with. */
	readonly key: string;
	/** One timer of a name in a session: setting it again replaces it. */
	readonly name: string;
	/** Milliseconds since the epoch. */
	readonly wakeAt: number;
	/** JSON-safe value (see upp's encodeValue). Default: undefined. */
	readonly body?: unknown;
}

/** A due timer with a temporary claim. */
export interface ClaimedTimer extends Timer {
	/** The incarnation of its session. */
	readonly incarnation: string;
	/** Names this claim. */
	readonly claim: string;
	/** How often it was claimed, this time included. */
	readonly attempt: number;
}

/** Which timers to claim. */
export interface ClaimOptions {
	/** Only those that are due by then, in milliseconds since the epoch. */
	readonly now: number;
	/** Milliseconds for which the claim holds. Default 30,000. Shorter: a dead claimer's are due again earlier. */
	readonly leaseMs?: number;
	/** The maximum number, earliest due first. Default 100. */
	readonly limit?: number;
	/**
	 * Only timers of sessions of a namespace; null: of sessions in none, including child sessions. Default: all. Due
	 * timers of others that remain unclaimed are skipped each time.
	 */
	readonly namespace?: string | null;
}

/** Where the timers of all sessions are kept. Pending ones cost nothing until they are due. */
export interface TimerStore {
	/** Sets a timer, durable when it resolves. Creates the session when it is new. */
	set(timer: Timer): MaybePromise<void>;
	/** Takes a timer away, claimed or not. Whether there was one. */
	cancel(key: string, name: string): MaybePromise<boolean>;
	/** Takes timers that are due. */
	claim(options: ClaimOptions): MaybePromise<readonly ClaimedTimer[]>;
	/** Ends a claimed timer. False if the claim is void: it was settled, cancelled, set again or claimed by another. */
	settle(timer: Pick<ClaimedTimer, "key" | "name" | "claim">): MaybePromise<boolean>;
	/**
	 * When the next one is due, in milliseconds since the epoch; undefined if absent. It may be in the past, unless only those
	 * due later than `after` are asked for.
	 */
	nextDue(options?: { readonly after?: number }): MaybePromise<number | undefined>;
	/** The timers of a session, in the order of their names. */
	list(key: string): MaybePromise<readonly Timer[]>;
	/** Calls `changed` whenever `nextDue()` may have become earlier. Returns a function that stops it. */
	watch(changed: () => void): () => void;
}

/** The default validity of a claim in milliseconds. */
export const claimLease = 30_000;
/** The default number of timers per claim. */
export const claimAtOnce = 100;
