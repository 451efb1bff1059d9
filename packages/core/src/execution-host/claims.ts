// Claims as records. Each is valid for a limited time and, on a host that tracks its workers, at most until its worker
// dies. A claim that has ended is replaced by one with another id, so that its previous owner can be fenced (keeps I4).
import type { MaybePromise } from "../host/index.ts";

/** Sources of time and ids, and the liveness of claimants. */
export interface KeepingPorts {
	/** Milliseconds since the epoch. */
	now(): number;
	newId(): string;
	/** Absent if claims end only by time. */
	readonly workers?: {
		/** The worker that claims belong to. Its writes are valid only while others can see that it is alive. */
		readonly ownId: string;
		/** Whether that worker is known to be dead; false if in doubt. */
		isDead(workerId: string): MaybePromise<boolean>;
	};
}

/** The end and the owner of a claim. */
interface Claim {
	/** Milliseconds since the epoch, by the host's clock. */
	readonly leaseUntilMs: number;
	readonly workerId?: string;
}

/** The default validity of a claim in milliseconds. */
export const defaultLease = 30_000;

/** Creates or renews a claim. */
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
