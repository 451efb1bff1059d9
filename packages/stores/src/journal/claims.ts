// Dedupe keys of a session over a bare store (keeps I4). The head contains those of queued inputs, and that of the last
// append with one, so that both are committed at once. Earlier keys have separate documents.
import type { SessionStore } from "holdfast/host";
import { claimKey } from "./derived-keys.ts";
import { commitDocument, loadDocument } from "./documents.ts";
import { type Head, storeFormat } from "./head.ts";

/** A dedupe key and the order of its input; 0 if it belongs to an append. */
export interface Claim {
	readonly dedupeKey: string;
	readonly order: number;
}

/** Returns the order of the input that already has the dedupe key. */
export async function orderOf(
	store: SessionStore,
	key: string,
	head: Head,
	dedupeKey: string,
): Promise<number | undefined> {
	if (head.claimed === dedupeKey) return 0;
	const waiting = head.inbox.find((input) => input.dedupeKey === dedupeKey);
	if (waiting !== undefined || head.claims === 0) return waiting?.order;
	const claim = await loadDocument(store, claimKey(key, head.generation, dedupeKey));
	return (claim?.state as { order?: number } | undefined)?.order;
}

/** Stores a key that is about to leave the head. Storing it twice is harmless. */
export async function keepClaim(
	store: SessionStore,
	key: string,
	{ generation }: Head,
	{ dedupeKey, order }: Claim,
): Promise<void> {
	await commitDocument(store, claimKey(key, generation, dedupeKey), { format: storeFormat, order }, null);
}
