// Notifications: inputs of a session that do not come from a user. One worker claims each, and acknowledges it only once
// it is in the history, so that a crash neither loses nor repeats one.
import type { AgentEvent, SendInput } from "../facts/index.ts";

/** The state of a notification: to be delivered, delivered, or cancelled. */
export type NotificationStatus = "pending" | "acked" | "cancelled";

/** A stored notification. */
export interface NotificationRecord {
	/** Identifies the notification. */
	readonly notificationId: string;
	/** Notifications with the same key count as one. */
	readonly idempotencyKey: string;
	/** The run that delivers it: the argument of `agent.resume`. */
	readonly runId: string;
	/** The caller's key of the target session. */
	readonly sessionKey: string;
	/** Namespace of the agent that owns the session. Default: an agent without a namespace. */
	readonly ownerNamespace?: string;
	/**
	 * `SessionHead.incarnation` of that session: the notification is deleted with it, and is not delivered to a later
	 * session with the same key. Default: whichever session has the key.
	 */
	readonly incarnation?: string;
	/** The input for the session. JSON-safe. */
	readonly input: SendInput;
	/** Whether it was delivered. */
	readonly status: NotificationStatus;
	/** Events to show along with it, stored unchanged. */
	readonly observerEvents?: readonly AgentEvent[];
	/** The claim and its end. Until then the notification is not pending for others. */
	readonly lease?: {
		readonly leaseId: string;
		/** Milliseconds since the epoch, by the host's clock. */
		readonly leaseUntilMs: number;
		/** The claiming worker, on a host that tracks its workers: the claim ends early if that worker dies. */
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

/** The claimed notification, or the reason it could not be claimed. */
export type ClaimNotificationResult =
	| { readonly ok: true; readonly record: NotificationRecord }
	/** `already-claimed`: an unexpired claim exists, or it was delivered or cancelled. */
	| {
			readonly ok: false;
			readonly reason: "already-claimed" | "not-found";
			readonly record?: NotificationRecord;
	  };

/** Options for claiming a notification. */
export interface ClaimNotificationOptions {
	/** How long the claim is valid, in milliseconds. Default 30,000. */
	readonly leaseMs?: number;
	/** Identifies the claim. Default: a new id. */
	readonly leaseId?: string;
}

/** The claim required to change a notification. */
export interface HeldNotification {
	/** Refuse unless this is the current claim, expired or not. */
	readonly leaseId?: string;
}

/** The notifications of an execution host. */
export interface NotificationStore {
	/** Records a notification, once per idempotency key. */
	enqueue(notification: NewNotification): Promise<EnqueueNotificationResult>;
	/** Returns a notification; null if it does not exist. */
	getByIdempotencyKey(idempotencyKey: string): Promise<NotificationRecord | null>;
	/** Claims a notification for a limited time, to deliver it. */
	claimByIdempotencyKey(
		idempotencyKey: string,
		options?: ClaimNotificationOptions,
	): Promise<ClaimNotificationResult>;
	/** Makes a claimed notification pending again. */
	releaseByIdempotencyKey(idempotencyKey: string, options?: HeldNotification): Promise<unknown>;
	/**
	 * Marks a notification as being in the history, so it is not delivered again. Returns false if it does not exist or
	 * another worker holds the claim. On a host without this method a claim is permanent: a notification whose run is
	 * left open is delivered again, and accepted once.
	 */
	acknowledge?(idempotencyKey: string, options?: HeldNotification): Promise<boolean>;
	/**
	 * Deletes the notifications of a deleted session. The runs that would deliver them are cancelled and unscheduled. On
	 * a host without this method they remain, but are not delivered to any session.
	 */
	deleteByIncarnation?(incarnation: string): Promise<unknown>;
}
