// Content hashes, by which a session recognises texts that it has received.

/** Returns the SHA-256 of a text or of bytes, in hexadecimal. */
export async function hashOf(content: string | Uint8Array): Promise<string> {
	const bytes = typeof content === "string" ? new TextEncoder().encode(content) : content;
	const digest = await crypto.subtle.digest("SHA-256", bytes as Uint8Array<ArrayBuffer>);
	return [...new Uint8Array(digest)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}
