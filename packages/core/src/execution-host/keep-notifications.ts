// Notifications as records: pending, claimed by one for a time, acknowledged once and for all.

import type { RecordDraft } from "../host/index.ts";
import { claimUntil, isClaimed, type KeepingPorts } from "./claims.ts";
import { createRun } from "./keep-runs.ts";
import type {
	ClaimNotificationOptions,
	ClaimNotificationResult,
	HeldNotification,
	NewNotification,
	NotificationRecord,
} from "./notification.ts";

const shelf = "notifications";

export async function enqueueNotification(
	draft: RecordDraft,
	given: NewNotification,
): Promise<NotificationRecord> {
	const { notificationId, idempotencyKey, runId, sessionKey, ownerNamespace } = given;
	const owner = ownerNamespace === undefined ? {} : { ownerNamespace };
	const existing = await getNotification(draft, idempotencyKey);
	if (existing !== null) return existing;
	const input = structuredClone(given.input);
	const notification: NotificationRecord = {
		notificationId,
		idempotencyKey,
		runId,
		sessionKey,
		input,
		status: "pending",
		...owner,
	};
	put(draft, notification);
	await createRun(draft, {
		runId,
		kind: "notification",
		status: "queued",
		sessionKey,
		dedupeKey: idempotencyKey,
		...owner,
	});
	return notification;
}

export async function getNotification(
	draft: RecordDraft,
	idempotencyKey: string,
): Promise<NotificationRecord | null> {
	return ((await draft.get(shelf, idempotencyKey)) as NotificationRecord | undefined) ?? null;
}

export async function claimNotification(
	draft: RecordDraft,
	ports: KeepingPorts,
	idempotencyKey: string,
	options: ClaimNotificationOptions = {},
): Promise<ClaimNotificationResult> {
	const existing = await getNotification(draft, idempotencyKey);
	if (existing === null) return { ok: false, reason: "not-found" };
	const isFree =
		existing.status === "pending" ||
		(existing.status === "claimed" && !(await isClaimed(ports, existing.lease)));
	if (!isFree) return { ok: false, reason: "already-claimed" };
	const { leaseMs, leaseId = ports.newId() } = options;
	const lease = { leaseId, ...claimUntil(ports, leaseMs) };
	const notification: NotificationRecord = { ...existing, status: "claimed", lease };
	put(draft, notification);
	return { ok: true, notification };
}

export async function releaseNotification(
	draft: RecordDraft,
	idempotencyKey: string,
	options: HeldNotification = {},
): Promise<boolean> {
	const existing = await getNotification(draft, idempotencyKey);
	if (existing?.status !== "claimed" || !isHeld(existing, options)) return false;
	put(draft, { ...withoutLease(existing), status: "pending" });
	return true;
}

export async function acknowledgeNotification(
	draft: RecordDraft,
	idempotencyKey: string,
	options: HeldNotification = {},
): Promise<boolean> {
	const existing = await getNotification(draft, idempotencyKey);
	if (existing === null) return false;
	if (existing.status === "acknowledged") return true;
	if (!isHeld(existing, options)) return false;
	put(draft, { ...withoutLease(existing), status: "acknowledged" });
	return true;
}

function isHeld({ lease }: NotificationRecord, { leaseId }: HeldNotification): boolean {
	return leaseId === undefined || lease?.leaseId === leaseId;
}

function withoutLease({ lease: _, ...notification }: NotificationRecord): NotificationRecord {
	return notification;
}

function put(draft: RecordDraft, notification: NotificationRecord): void {
	draft.put(shelf, notification.idempotencyKey, Object.freeze(notification));
}
