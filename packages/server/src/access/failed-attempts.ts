// Limits the failed authentication attempts of a peer, so that keys cannot be guessed endlessly. It is exact: an attempt
// starts only if it may still fail, and others wait for it. Credentials that a peer has used successfully are checked
// even beyond the limit, because many clients may share an address. Peers without failures cost nothing, and the number
// of others is bounded (keeps I7).
import { HoldfastError } from "holdfast";

/** How many attempts may fail in a window. */
export interface FailedAttempts {
	/** Number of attempts. */
	readonly attempts: number;
	/** Milliseconds, counted from the first attempt. */
	readonly windowMs: number;
}

interface Peer {
	startedAt: number;
	failed: number;
	/** Attempts that are being checked now. */
	pending: number;
	/** Attempts that wait for the pending ones. */
	readonly waiting: (() => void)[];
}

/** How many peers with failures, and how many accepted credentials, are kept. */
const most = 10_000;

/** How many peers are checked for expiry each time, so that the cost is the same for every peer. */
const looks = 16;

/** Counts the failed attempts of each peer. */
export class AttemptLimiter {
	readonly #limit: FailedAttempts;
	readonly #now: () => number;
	/** In the order in which their windows started. */
	readonly #peers = new Map<string, Peer>();
	/** Peers with the credentials that were accepted, most recently used last. */
	readonly #letIn = new Set<string>();

	constructor(limit: FailedAttempts, now: () => number) {
		this.#limit = limit;
		this.#now = now;
	}

	/** The number of entries kept. */
	get size(): number {
		return this.#peers.size + this.#letIn.size;
	}

	/**
	 * Returns whether a peer is admitted with its credentials, given as a digest; empty if they cannot be distinguished.
	 * @throws HoldfastError `rate_limited` with `data.retryAfterMs`, without checking the credentials.
	 */
	async attempt<Found>(
		address: string,
		credentials: string,
		look: () => Found | undefined | Promise<Found | undefined>,
	): Promise<Found | undefined> {
		const both = `${address} ${credentials}`;
		const peer = await this.#admit(address, both);
		let found: Found | undefined;
		let failures = 0;
		try {
			found = await look();
			failures = found === undefined ? 1 : 0;
		} finally {
			this.#settle(address, peer, failures);
		}
		this.#letIn.delete(both);
		if (found !== undefined && credentials !== "") {
			this.#letIn.add(both);
			if (this.#letIn.size > most) this.#letIn.delete(this.#letIn.values().next().value as string);
		}
		return found;
	}

	/** Starts an attempt of a peer. Returns undefined for credentials that were accepted before, which do not count. */
	async #admit(address: string, both: string): Promise<Peer | undefined> {
		for (;;) {
			if (this.#letIn.has(both)) return undefined;
			const peer = this.#windowOf(address);
			if (peer.failed >= this.#limit.attempts) throw this.#refusal(peer);
			if (peer.failed + peer.pending < this.#limit.attempts) {
				peer.pending++;
				return peer;
			}
			await new Promise<void>((resolve) => peer.waiting.push(resolve));
		}
	}

	/** Ends an attempt; an uncounted one counts if it has failed. Each attempt wakes the next waiting one. */
	#settle(address: string, admitted: Peer | undefined, failures: number): void {
		const peer = admitted ?? (failures > 0 ? this.#windowOf(address) : this.#peers.get(address));
		if (peer === undefined) return;
		if (admitted !== undefined) peer.pending--;
		peer.failed += failures;
		const isOver = peer.failed >= this.#limit.attempts;
		for (const go of peer.waiting.splice(0, isOver ? peer.waiting.length : 1)) go();
		const isIdle = peer.failed === 0 && peer.pending === 0 && peer.waiting.length === 0;
		if (isIdle && this.#peers.get(address) === peer) this.#peers.delete(address);
	}

	/** Returns the window of a peer; a new one if the last one has ended. */
	#windowOf(address: string): Peer {
		const now = this.#now();
		const known = this.#peers.get(address);
		if (known !== undefined && now - known.startedAt < this.#limit.windowMs) return known;
		const peer = known ?? { startedAt: now, failed: 0, pending: 0, waiting: [] };
		peer.startedAt = now;
		peer.failed = 0;
		this.#peers.delete(address);
		this.#forget(now);
		this.#peers.set(address, peer);
		return peer;
	}

	/** Forgets ended windows, and the oldest if there are too many, but never one with a running attempt. */
	#forget(now: number): void {
		let looked = 0;
		for (const [address, { startedAt, pending, waiting }] of this.#peers) {
			const isOver = now - startedAt >= this.#limit.windowMs;
			if ((!isOver && this.#peers.size < most) || looked++ === looks) return;
			if (pending === 0 && waiting.length === 0) this.#peers.delete(address);
		}
	}

	#refusal({ startedAt }: Peer): HoldfastError {
		const { attempts, windowMs } = this.#limit;
		return new HoldfastError(
			"rate_limited",
			`${attempts} attempts to authenticate from this address have failed. Wait for the time in \`Retry-After\`, and send a valid key.`,
			{ retryable: true, data: { retryAfterMs: startedAt + windowMs - this.#now() } },
		);
	}
}
