// Limits the failed authentication attempts of a peer, so that keys cannot be tried endlessly. It is exact: an attempt
// starts only if it may still fail, and others wait for it. Credentials that a peer has used successfully are checked all
// the same, because many may share an address. Peers without failures cost nothing, and the number of others is bounded
// (keeps I7).
import { HoldfastError } from "holdfast";

/** Failed attempts in a window. */
export interface FailedAttempts {
	/** Attempts. */
	readonly attempts: number;
	/** Milliseconds, from the first of them on. */
	readonly windowMs: number;
}

interface Peer {
	startedAt: number;
	failed: number;
	/** Attempts that are looked at now. */
	pending: number;
	/** Attempts that come after those. */
	readonly waiting: (() => void)[];
}

/** How many peers with failures, and how many credentials that were let in, are kept. */
const most = 10_000;

/** How many peers are looked at for such as may be forgotten, so that it costs the same for every peer. */
const looks = 16;

/** Counts the failed attempts of each peer. */
export class AttemptLimiter {
	readonly #limit: FailedAttempts;
	readonly #now: () => number;
	/** In the order in which their windows began. */
	readonly #peers = new Map<string, Peer>();
	/** Peers with what they were let in with, those used last at the end. */
	readonly #letIn = new Set<string>();

	constructor(limit: FailedAttempts, now: () => number) {
		this.#limit = limit;
		this.#now = now;
	}

	/** How much is kept. */
	get size(): number {
		return this.#peers.size + this.#letIn.size;
	}

	/**
	 * Whether a peer is let in with its credentials, given as a digest; empty where they cannot be distinguished.
	 * @throws HoldfastError `rate_limited` with `data.retryAfterMs`, without a look.
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

	/** Begins an attempt of a peer; undefined for one that was let in before, which does not count. */
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

	/** An attempt has ended; an uncounted one counts if it has failed. A waiting attempt is woken by the previous one. */
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

	/** The window of a peer; a new one if it has ended. */
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

	/** Forgets ended windows, and the oldest if there are too many; never one with a running attempt. */
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
			`From this address ${attempts} attempts to authenticate have failed. Wait as long as \`Retry-After\` says, and send a valid key.`,
			{ retryable: true, data: { retryAfterMs: startedAt + windowMs - this.#now() } },
		);
	}
}
