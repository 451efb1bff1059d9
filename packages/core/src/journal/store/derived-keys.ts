// The keys of a session's documents. The head stands under the session's own key; the others behind a single `#`, which
// no head's key can hold: there each `#` of the session's key is doubled. So no session meets another's documents.

/** The key of a session's head. */
export function headKey(key: string): string {
	return key.replaceAll("#", "##");
}

/** The key of a segment: the lease that wrote it, and its number in the session. */
export function segmentKey(key: string, leaseId: string, number: number): string {
	return `${headKey(key)}#s.${leaseId}.${number}`;
}

/** The key of the claim on a dedupe key whose input has left the inbox. */
export function claimKey(key: string, generation: string, dedupeKey: string): string {
	return `${headKey(key)}#d.${generation}.${dedupeKey}`;
}
