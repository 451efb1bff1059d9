// Plain data of what somebody else gave: as it is after a JSON round trip, which is what a journal can hold.

/** A copy, or why it cannot be made. */
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
