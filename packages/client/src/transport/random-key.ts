// Unique keys. A phone or a page without TLS may lack `crypto`; a key is not secret, so `Math.random` suffices.

import type { Timers } from "./timers.ts";

/** Returns 128 random bits as text. */
export function randomKey({ random }: Timers): string {
	const bytes = new Uint8Array(16);
	if (globalThis.crypto === undefined)
		bytes.forEach((_, at) => {
			bytes[at] = Math.floor(random() * 256);
		});
	else crypto.getRandomValues(bytes);
	return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
