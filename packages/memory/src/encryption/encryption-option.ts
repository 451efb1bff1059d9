// The encryption setting of a client. Persistent clients encrypt by default.
import { HoldfastError } from "@holdfast/upp";
import type { PersistentOptions } from "../contract/index.ts";
import { KeyRing } from "./key-ring.ts";

/**
 * Returns the key ring of a persistent client; undefined if encryption is turned off.
 * @throws HoldfastError `ENCRYPTION_KEY_REQUIRED`, `ENCRYPTION_KEY_INVALID`.
 */
export function keyRingOf({ encryption, unencrypted }: PersistentOptions): KeyRing | undefined {
	if (encryption !== undefined) return new KeyRing(encryption);
	if (unencrypted === true) return undefined;
	throw keyRequired("A client that stores values beyond the process");
}

export function keyRequired(what: string): HoldfastError {
	return new HoldfastError(
		"ENCRYPTION_KEY_REQUIRED",
		`${what} needs \`encryption\`: { keys: { id: 32 bytes }, current: id }. To store values without encryption, set \`unencrypted: true\`.`,
	);
}
