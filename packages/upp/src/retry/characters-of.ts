// Estimates how much a provider has sent: text in characters, binary data in bytes.

const deepest = 8;

/** Counts the characters of all strings and the bytes in a value. Data nested deeper than 8 levels is not counted. */
export function charactersOf(value: unknown, depth = 0): number {
	if (typeof value === "string") return value.length;
	if (typeof value !== "object" || value === null || depth > deepest) return 0;
	if (ArrayBuffer.isView(value)) return value.byteLength;
	let sum = 0;
	if (Array.isArray(value)) {
		for (let at = 0; at < value.length; at++) sum += charactersOf(value[at], depth + 1);
		return sum;
	}
	for (const name in value) sum += charactersOf((value as Record<string, unknown>)[name], depth + 1);
	return sum;
}
