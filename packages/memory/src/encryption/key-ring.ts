// Encryption of values: AES-256-GCM with a fresh random nonce for each. The location of a value (its collection and key,
// or its stream) is authenticated with it, so a moved value is rejected.
//
// Sealed text: `holdfast:1:<key id>:<base64 of nonce, tag and ciphertext>`. No JSON starts with `h`.
import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";
import { HoldfastError } from "@holdfast/upp";
import type { Encryption } from "../contract/index.ts";

const cipher = "aes-256-gcm";
const keyBytes = 32;
const nonceBytes = 12;
const tagBytes = 16;
const mark = "holdfast:1:";

/** Seals and opens texts with keys identified by ids. */
export class KeyRing {
	readonly #keys: ReadonlyMap<string, Uint8Array>;
	readonly #current: string;
	readonly #key: Uint8Array;
	/** Whether unsealed texts are accepted too. */
	readonly acceptsPlain: boolean;

	/** @throws HoldfastError `ENCRYPTION_KEY_INVALID`. */
	constructor({ keys, current, acceptPlain = false }: Encryption) {
		this.#keys = new Map(Object.entries(keys).map(([id, key]) => [id, keyOf(id, key)]));
		const key = this.#keys.get(current);
		if (key === undefined)
			throw invalidKey(`\`current\` names ${JSON.stringify(current)}, which is not among \`keys\``);
		this.#current = current;
		this.#key = key;
		this.acceptsPlain = acceptPlain;
	}

	/** Returns a text that only this key ring can open, and only with the same `boundTo`. */
	seal(text: string, boundTo: string): string {
		const nonce = randomBytes(nonceBytes);
		const encryption = createCipheriv(cipher, this.#key, nonce, { authTagLength: tagBytes });
		encryption.setAAD(Buffer.from(boundTo));
		const sealed = Buffer.concat([encryption.update(text, "utf8"), encryption.final()]);
		const all = Buffer.concat([nonce, encryption.getAuthTag(), sealed]);
		return `${mark}${this.#current}:${all.toString("base64")}`;
	}

	/** @throws HoldfastError `DECRYPT_FAILED` if the text was altered or moved, or its key is missing. */
	open(sealed: string, boundTo: string): string {
		if (!isSealed(sealed)) {
			if (this.acceptsPlain) return sealed;
			throw decryptFailed("it is not encrypted; set `acceptPlain` while converting", boundTo);
		}
		const id = keyIdOf(sealed);
		const key = this.#keys.get(id);
		if (key === undefined) throw decryptFailed(`there is no key ${JSON.stringify(id)}`, boundTo);
		const all = Buffer.from(sealed.slice(mark.length + id.length + 1), "base64");
		try {
			const decryption = createDecipheriv(cipher, key, all.subarray(0, nonceBytes), {
				authTagLength: tagBytes,
			});
			decryption.setAAD(Buffer.from(boundTo));
			decryption.setAuthTag(all.subarray(nonceBytes, nonceBytes + tagBytes));
			const opened = [decryption.update(all.subarray(nonceBytes + tagBytes)), decryption.final()];
			return Buffer.concat(opened).toString("utf8");
		} catch (cause) {
			throw decryptFailed("it was altered or moved, or its key is a different one", boundTo, cause);
		}
	}

	/** Whether a text is sealed with the current key. */
	isCurrent(text: string): boolean {
		return text.startsWith(`${mark}${this.#current}:`);
	}
}

/** Whether a text is sealed. */
export function isSealed(text: string): boolean {
	return text.startsWith(mark);
}

/** Creates the error for a sealed text without keys, or one that cannot be opened. */
export function decryptFailed(why: string, boundTo: string, cause?: unknown): HoldfastError {
	return new HoldfastError(
		"DECRYPT_FAILED",
		`The value at ${boundTo} cannot be decrypted: ${why}. Provide the key that encrypted it, or restore the value.`,
		{ cause },
	);
}

function keyIdOf(sealed: string): string {
	const end = sealed.indexOf(":", mark.length);
	return end === -1 ? "" : sealed.slice(mark.length, end);
}

function keyOf(id: string, key: Uint8Array | string): Uint8Array {
	if (!/^[\w.-]{1,64}$/.test(id))
		throw invalidKey(
			`${JSON.stringify(id)} is not a valid id: use letters, digits, ".", "_" and "-", at most 64`,
		);
	const bytes = typeof key === "string" ? Buffer.from(key, "base64") : key;
	if (!(bytes instanceof Uint8Array) || bytes.length !== keyBytes)
		throw invalidKey(`the key ${JSON.stringify(id)} does not have ${keyBytes} bytes`);
	return Uint8Array.from(bytes);
}

function invalidKey(why: string): HoldfastError {
	return new HoldfastError(
		"ENCRYPTION_KEY_INVALID",
		`The encryption keys cannot be used: ${why}. A key is 32 random bytes, or base64 of them.`,
	);
}
