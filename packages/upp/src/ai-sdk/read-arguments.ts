// The arguments of a tool call, from the JSON text a model wrote.

/** The arguments, or an empty object and the text that was no JSON object. */
export function readArguments(input: unknown): { value: Record<string, unknown>; invalid?: string } {
	if (isRecord(input)) return { value: input };
	const text = typeof input === "string" ? input.trim() : (JSON.stringify(input ?? undefined) ?? "");
	// Models call tools without parameters with no text at all.
	if (text === "") return { value: {} };
	try {
		const value: unknown = JSON.parse(text);
		if (isRecord(value)) return { value };
	} catch {
		// Whoever answers the call says so to the model.
	}
	return { value: {}, invalid: text };
}

function isRecord(value: unknown): value is Record<string, unknown> {
	return typeof value === "object" && value !== null && !Array.isArray(value);
}
