// Dedupe keys of a session over a bare store: of inputs that wait, in the head; of the last append that had one, there too, so
// that both are committed at once; of all before, in documents of their own (keeps I4).
import type { SessionStore } from "holdfast/host";
import { claimKey } from "./derived-keys.ts";
import { commitDocument, loadDocument } from "./documents.ts";
import { type Head, storeFormat } from "./head.ts";

/** A dedupe key and the order of its input; 0 where an append began with it. */
export interface Claim {
	readonly dedupeKey: string;
	readonly order: number;
}

/** Order of the input that has the dedupe key already. */
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

/** Keeps a key that is about to leave the head. One that is kept already says the same. */
export async function keepClaim(
	store: SessionStore,
	key: string,
	{ generation }: Head,
	{ dedupeKey, order }: Claim,
): Promise<void> {
	await commitDocument(store, claimKey(key, generation, dedupeKey), { format: storeFormat, order }, null);
}
