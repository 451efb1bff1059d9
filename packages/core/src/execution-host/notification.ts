// Notifications: inputs of a session that no user gave. Claimed by one worker, acknowledged only when it
// is in the history, so that no crash loses one or says it twice.
import type { SendInput } from "../facts/index.ts";

/** The state of a notification: waiting, claimed by a worker, or delivered. */
export type NotificationStatus = "pending" | "claimed" | "acknowledged";

/** A notification to be recorded. */
export interface NewNotification {
	readonly notificationId: string;
	/** Notifications with the same key are one. */
	readonly idempotencyKey: string;
	/** The run that delivers it: what `agent.resume` is called with. */
	readonly runId: string;
	/** The caller's key of the session it is for. */
	readonly sessionKey: string;
	/** Namespace of the agent whose session that is. Default: the session is an agent's without one. */
	readonly ownerNamespace?: string;
	/** What the session is given. JSON-safe. */
	readonly input: SendInput;
}

/** A notification as it is stored. */
export interface NotificationRecord extends NewNotification {
	readonly status: NotificationStatus;
	/** Who claimed it, until when; present while it is `claimed`. */
	readonly lease?: {
		readonly leaseId: string;
		/** Milliseconds since the epoch, by the host's clock. */
		readonly leaseUntilMs: number;
		/** Whose claim it is, on a host that knows its workers: it ends early when that one is dead. */
		readonly workerId?: string;
	};
}

/** The claimed notification, or why it could not be claimed. */
export type ClaimNotificationResult =
	| { readonly ok: true; readonly notification: NotificationRecord }
	/** Claimed and not expired, or acknowledged. */
	| { readonly ok: false; readonly reason: "already-claimed" | "not-found" };

/** How a notification is claimed. */
export interface ClaimNotificationOptions {
	/** Milliseconds the claim is valid. Default 30,000. */
	readonly leaseMs?: number;
	/** Name of the claim. Default: a new one. */
	readonly leaseId?: string;
}

/** The claim that must hold for a change of a notification. */
export interface HeldNotification {
	/** Refuse unless this claim is valid, expired or not. */
	readonly leaseId?: string;
}

/** The notifications of an execution host. */
export interface NotificationStore {
	/**
	 * Records a notification, and a `queued` run of kind `notification` where its run does not exist yet. Returns what
	 * is under its idempotency key.
	 */
	enqueue(notification: NewNotification): Promise<NotificationRecord>;
	getByIdempotencyKey(idempotencyKey: string): Promise<NotificationRecord | null>;
	claimByIdempotencyKey(
		idempotencyKey: string,
		options?: ClaimNotificationOptions,
	): Promise<ClaimNotificationResult>;
	/** Makes a claimed one pending again. False when there was nothing to release. */
	releaseByIdempotencyKey(idempotencyKey: string, options?: HeldNotification): Promise<boolean>;
	/** It is in the history: nobody gets it any more. False when it was not there or the claim is another's. */
	acknowledge(idempotencyKey: string, options?: HeldNotification): Promise<boolean>;
}
