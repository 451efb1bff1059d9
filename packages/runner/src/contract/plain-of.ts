// Converts foreign values to plain data by a JSON round trip, the only form that a journal can store; and to text.

/** Returns a copy, or why it cannot be made. */
export function plainOf(
	value: unknown,
): { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly why: string } {
	if (value === undefined || typeof value === "string") return { ok: true, value };
	try {
		const text = JSON.stringify(value);
		return text === undefined ? { ok: false, why: typeof value } : { ok: true, value: JSON.parse(text) };
	} catch (error) {
		return { ok: false, why: (error as Error).message };
	}
}

/** Returns any value as text, for messages and transcripts. */
export function textOf(value: unknown): string {
	if (value === undefined) return "";
	return typeof value === "string" ? value : (JSON.stringify(value) ?? String(value));
}
