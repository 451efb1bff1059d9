// Gets the message of a thrown value, which may be anything, including an object that throws when it is read.

const unreadable = "It gave no reason.";

/** Returns the message of a thrown value, or its text form. Never empty, and never throws. */
export function messageOf(thrown: unknown): string {
	try {
		const message = (thrown as { message?: unknown } | null | undefined)?.message;
		if (typeof message === "string" && message !== "") return message;
		const isData = typeof thrown === "object" && thrown !== null && !(thrown instanceof Error);
		return (isData ? JSON.stringify(thrown) : String(thrown ?? "")) || unreadable;
	} catch {
		return unreadable;
	}
}
