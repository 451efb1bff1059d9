// Reads a response: its body if it is text, and how long its server asks clients to wait.

/** The longest wait that a server may request, in milliseconds. */
const longestWait = 30_000;

/** Returns a body as text, or in base64 if it is not text. */
export function bodyOf(
	bytes: Uint8Array,
	headers: Readonly<Record<string, string>>,
): { readonly body: string; readonly encoding?: "base64" } {
	const charset = /;\s*charset\s*=\s*"?(?<label>[\w-]{1,40})/i.exec(headers["content-type"] ?? "")?.groups
		?.label;
	try {
		return { body: new TextDecoder(charset ?? "utf-8", { fatal: true }).decode(bytes) };
	} catch {
		return { body: Buffer.from(bytes).toString("base64"), encoding: "base64" };
	}
}

/** Returns the milliseconds of a Retry-After header, given in seconds or as a date; 30 seconds at most. */
export function retryAfter(value: string | undefined, now: number): number | undefined {
	if (value === undefined) return undefined;
	const text = value.trim();
	const isDate = /^[A-Z][a-z]{2}/.test(text);
	const wait = /^\d{1,10}$/.test(text) ? Number(text) * 1_000 : isDate ? Date.parse(text) - now : 0;
	return Number.isFinite(wait) && wait > 0 ? Math.min(wait, longestWait) : undefined;
}
