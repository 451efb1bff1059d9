// The keys of a session's documents. The head is stored under the session's own key, the others after `#s` or `#d`, which
// no head's key can contain: there each `#` of the session's key is written as `##`, and NUL, which many databases do not
// support in keys, as `#0`. So documents of different sessions never collide.

/** Returns the key of a session's head. */
export function headKey(key: string): string {
	return key.replaceAll("#", "##").replaceAll("\0", "#0");
}

/** Returns the key of a segment: the lease that wrote it, and its number in the session. */
export function segmentKey(key: string, leaseId: string, number: number): string {
	return `${headKey(key)}#s.${leaseId}.${number}`;
}

/** Returns the key of the claim on a dedupe key whose input has left the inbox. */
export function claimKey(key: string, generation: string, dedupeKey: string): string {
	return `${headKey(key)}#d.${generation}.${dedupeKey}`;
}
