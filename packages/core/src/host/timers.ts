// The port of timers that survive: each belongs to a session, is due at a time, and stays until its claimant has
// settled it, so that it fires at least once. Implementations: memory-timers.ts and sqlite/sqlite-timers.ts;
// `hostContract` of @holdfast/testing holds them alike.
//
// A timer is pending until its time, then due. A claim takes it for a while; when that is over and it was not settled, it
// is due again. `settle`, `cancel` and the removal of its session end it; setting it anew makes it pending and voids the
// claim.
import type { MaybePromise } from "./journal.ts";

/** Something to be done at a time. */
export interface Timer {
	/** The session it belongs to, and goes with. */
	readonly key: string;
	/** One timer of a name in a session: setting it again replaces it. */
	readonly name: string;
	/** Milliseconds since the epoch. */
	readonly wakeAt: number;
	/** JSON-safe value (see upp's encodeValue). Default: undefined. */
	readonly body?: unknown;
}

/** A timer that is due, and for a while nobody else's. */
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
	/** At most so many, those that are due first. Default 100. */
	readonly limit?: number;
	/**
	 * Only those of sessions of a namespace; null: of sessions in none, child sessions among them. Default: all. Those of others
	 * that are due and that nobody claims are passed by each time.
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
	/** Ends a timer that was claimed. False when the claim is void: it was settled, cancelled, set anew or claimed by another. */
	settle(timer: Pick<ClaimedTimer, "key" | "name" | "claim">): MaybePromise<boolean>;
	/**
	 * When the next one is due, in milliseconds since the epoch; undefined if absent. It may be in the past, unless only those
	 * due later than `after` are asked for.
	 */
	nextDue(options?: { readonly after?: number }): MaybePromise<number | undefined>;
	/** The timers of a session, in the order of their names. */
	list(key: string): MaybePromise<readonly Timer[]>;
	/** Calls `changed` when `nextDue()` may be earlier than it was, whatever the cause. Returns the way to stop. */
	watch(changed: () => void): () => void;
}

/** Milliseconds for which a claim holds when nothing else is said. */
export const claimLease = 30_000;
/** How many timers are claimed at a time when nothing else is said. */
export const claimAtOnce = 100;
