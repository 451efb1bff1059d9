// Notifications as records: pending, claimed by one worker for a time, or permanently acknowledged.

import type { RecordDraft } from "../host/index.ts";
import { claimUntil, isClaimed, type KeepingPorts } from "./claims.ts";
import { createRun, forgetRun } from "./keep-runs.ts";
import type {
	ClaimNotificationOptions,
	ClaimNotificationResult,
	EnqueueNotificationResult,
	HeldNotification,
	NewNotification,
	NotificationRecord,
} from "./notification.ts";
import { unschedule } from "./record-scheduler.ts";

const shelf = "notifications";
/** The maximum number of notifications deleted in one transaction. */
const atOnce = 100;

/** Returns the shelf with the keys of one session's notifications. */
function shelfOf(incarnation: string): string {
	return `notifications of ${incarnation}`;
}

export async function enqueueNotification(
	draft: RecordDraft,
	given: NewNotification,
): Promise<EnqueueNotificationResult> {
	const { notificationId, idempotencyKey, runId, sessionKey, ownerNamespace, incarnation, observerEvents } =
		given;
	const owner = ownerNamespace === undefined ? {} : { ownerNamespace };
	const existing = await getNotification(draft, idempotencyKey);
	if (existing !== null)
		return { ok: false, reason: "duplicate", existingNotificationId: existing.notificationId };
	const observed = observerEvents === undefined ? {} : { observerEvents: structuredClone(observerEvents) };
	put(draft, {
		notificationId,
		idempotencyKey,
		runId,
		sessionKey,
		input: structuredClone(given.input),
		status: given.status ?? "pending",
		...owner,
		...(incarnation === undefined ? {} : { incarnation }),
		...observed,
	});
	if (incarnation !== undefined) draft.put(shelfOf(incarnation), idempotencyKey, true);
	// A notification written by itself is still delivered, by its run.
	await createRun(draft, {
		runId,
		kind: "notification",
		status: "queued",
		sessionKey,
		dedupeKey: idempotencyKey,
		...owner,
	});
	return { ok: true };
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
	if (existing.status !== "pending" || (await isClaimed(ports, existing.lease)))
		return { ok: false, reason: "already-claimed", record: existing };
	const { leaseMs, leaseId = ports.newId() } = options;
	const lease = { leaseId, ...claimUntil(ports, leaseMs) };
	const record: NotificationRecord = { ...existing, lease };
	put(draft, record);
	return { ok: true, record };
}

export async function releaseNotification(
	draft: RecordDraft,
	idempotencyKey: string,
	options: HeldNotification = {},
): Promise<boolean> {
	const existing = await getNotification(draft, idempotencyKey);
	if (existing?.status !== "pending" || existing.lease === undefined || !isHeld(existing, options))
		return false;
	put(draft, withoutLease(existing));
	return true;
}

export async function acknowledgeNotification(
	draft: RecordDraft,
	idempotencyKey: string,
	options: HeldNotification = {},
): Promise<boolean> {
	const existing = await getNotification(draft, idempotencyKey);
	if (existing === null || existing.status === "cancelled") return false;
	if (existing.status === "acked") return true;
	if (!isHeld(existing, options)) return false;
	put(draft, { ...withoutLease(existing), status: "acked" });
	return true;
}

/** Deletes some notifications of one session. Returns how many it found. */
export async function deleteNotifications(draft: RecordDraft, incarnation: string): Promise<number> {
	const found = await draft.list(shelfOf(incarnation), { limit: atOnce });
	for (const [idempotencyKey] of found) {
		draft.put(shelfOf(incarnation), idempotencyKey, undefined);
		const notification = await getNotification(draft, idempotencyKey);
		if (notification === null) continue;
		draft.put(shelf, idempotencyKey, undefined);
		await unschedule(draft, notification.runId);
		await forgetRun(draft, notification.runId);
	}
	return found.length;
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
