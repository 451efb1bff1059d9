// The arguments of a tool call, from the JSON text a model wrote.

/** The arguments, or an empty object and the text that was no JSON object. */
export function readArguments(input: unknown): { value: Record<string, unknown>; invalid?: string } {
	if (typeof input === "object" && input !== null && !Array.isArray(input)) {
		return { value: input as Record<string, unknown> };
	}
	const text = typeof input === "string" ? input.trim() : "";
	// Models call tools without parameters with no text at all.
	if (text === "") return { value: {} };
	try {
		const value: unknown = JSON.parse(text);
		if (typeof value === "object" && value !== null && !Array.isArray(value)) {
			return { value: value as Record<string, unknown> };
		}
	} catch {
		// Told to the model by whoever answers the call.
	}
	return { value: {}, invalid: text };
}
