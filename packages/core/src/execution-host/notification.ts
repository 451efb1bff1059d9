// Notifications: inputs of a session that do not come from a user. One worker claims each, and it is acknowledged only
// once it is in the history, so that a crash neither loses nor repeats one.
import type { AgentEvent, SendInput } from "../facts/index.ts";

/** The state of a notification: to be delivered, delivered, or cancelled. */
export type NotificationStatus = "pending" | "acked" | "cancelled";

/** A stored notification. */
export interface NotificationRecord {
	readonly notificationId: string;
	/** Notifications with the same key are one. */
	readonly idempotencyKey: string;
	/** The run that delivers it: the argument of `agent.resume`. */
	readonly runId: string;
	/** The caller's key of the session it is for. */
	readonly sessionKey: string;
	/** Namespace of the agent whose session that is. Default: the session is an agent's without one. */
	readonly ownerNamespace?: string;
	/**
	 * `SessionHead.incarnation` of that session: the notification is deleted with it, and a later session of its key does not
	 * get it. Default: whichever has the key.
	 */
	readonly incarnation?: string;
	/** The session's input. JSON-safe. */
	readonly input: SendInput;
	readonly status: NotificationStatus;
	/** Events to show with it, stored unchanged. */
	readonly observerEvents?: readonly AgentEvent[];
	/** The claim, and its end: until then it is not pending for others. */
	readonly lease?: {
		readonly leaseId: string;
		/** Milliseconds since the epoch, by the host's clock. */
		readonly leaseUntilMs: number;
		/** Whose claim it is, on a host that knows its workers: it ends early when that one is dead. */
		readonly workerId?: string;
	};
}

/** A notification to record; its default status is `pending`. */
export type NewNotification = Omit<NotificationRecord, "status" | "lease"> &
	Partial<Pick<NotificationRecord, "status">>;

/** Whether it was recorded. */
export type EnqueueNotificationResult =
	| { readonly ok: true }
	| { readonly ok: false; readonly reason: "duplicate"; readonly existingNotificationId: string };

/** The claimed notification, or why it could not be claimed. */
export type ClaimNotificationResult =
	| { readonly ok: true; readonly record: NotificationRecord }
	/** `already-claimed`: by a claim that has not expired, or delivered or cancelled. */
	| {
			readonly ok: false;
			readonly reason: "already-claimed" | "not-found";
			readonly record?: NotificationRecord;
	  };

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
	/** Records a notification, once for each idempotency key. */
	enqueue(notification: NewNotification): Promise<EnqueueNotificationResult>;
	getByIdempotencyKey(idempotencyKey: string): Promise<NotificationRecord | null>;
	claimByIdempotencyKey(
		idempotencyKey: string,
		options?: ClaimNotificationOptions,
	): Promise<ClaimNotificationResult>;
	/** Makes a claimed one pending again. */
	releaseByIdempotencyKey(idempotencyKey: string, options?: HeldNotification): Promise<unknown>;
	/**
	 * It is in the history and is not delivered again. False if it did not exist or another worker holds the claim. On a
	 * host without this method a claim is permanent: a notification whose run is left open is delivered again, and
	 * accepted once.
	 */
	acknowledge?(idempotencyKey: string, options?: HeldNotification): Promise<boolean>;
	/**
	 * Deletes the notifications of a deleted session. The runs that would deliver them are cancelled and no longer
	 * scheduled. On a host without this method they remain, and are delivered to no session.
	 */
	deleteByIncarnation?(incarnation: string): Promise<unknown>;
}
