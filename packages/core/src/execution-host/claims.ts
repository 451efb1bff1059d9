// Claims as records: each is valid for a time and, on a host that knows its workers, no longer than its worker lives. An
// ended claim is replaced by one with another id, so that its former owner can be notified (keeps I4).
import type { MaybePromise } from "../host/index.ts";

/** The sources of time and ids, and the liveness of claimants. */
export interface KeepingPorts {
	/** Milliseconds since the epoch. */
	now(): number;
	newId(): string;
	/** Absent where claims end by time alone. */
	readonly workers?: {
		/** The worker that claims belong to. Its writes are valid only while others can see that it is alive. */
		readonly ownId: string;
		/** Whether that worker is known to be dead; false where in doubt. */
		isDead(workerId: string): MaybePromise<boolean>;
	};
}

/** Until when a claim is valid, and whose it is. */
interface Claim {
	/** Milliseconds since the epoch, by the host's clock. */
	readonly leaseUntilMs: number;
	readonly workerId?: string;
}

/** The default validity of a claim in milliseconds. */
export const defaultLease = 30_000;

/** A claim made or renewed now. */
export function claimUntil({ now, workers }: KeepingPorts, leaseMs: number = defaultLease): Claim {
	const leaseUntilMs = now() + leaseMs;
	return workers === undefined ? { leaseUntilMs } : { leaseUntilMs, workerId: workers.ownId };
}

/** Whether a claim is held. */
export async function isClaimed({ now, workers }: KeepingPorts, claim: Claim | undefined): Promise<boolean> {
	if (claim === undefined || !(claim.leaseUntilMs > now())) return false;
	if (workers === undefined || claim.workerId === undefined) return true;
	return !(await workers.isDead(claim.workerId));
}
