// Anything as text, for messages and transcripts.

export function textOf(value: unknown): string {
	if (value === undefined) return "";
	return typeof value === "string" ? value : (JSON.stringify(value) ?? String(value));
}
