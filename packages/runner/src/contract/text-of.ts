// Anything as text, for messages and transcripts.

export function textOf(value: unknown): string {
	if (value === undefined) return "";
	return typeof value === "string" ? value : (JSON.stringify(value) ?? String(value));
}

/** What is said of something that was thrown, whatever it is: never empty. */
export function messageOf(thrown: unknown): string {
	const message = (thrown as { message?: unknown } | null | undefined)?.message;
	if (typeof message === "string" && message !== "") return message;
	try {
		return (thrown instanceof Error ? String(thrown) : textOf(thrown)) || "It gave no reason.";
	} catch {
		return "It gave no reason.";
	}
}
