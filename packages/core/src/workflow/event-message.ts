// Inputs and events of workflows as messages: a message of JSON text, so that every client that can send a message can
// start a workflow or send it an event.

/** The name of events that were sent as plain messages. */
export const messageEvent = "message";

/** Returns the text of an event's message. */
export function eventText(event: string, payload: unknown): string {
	return JSON.stringify(payload === undefined ? { event } : { event, payload });
}

/** Reads the message of an event. A message of any other form is the event `message`, with its text as the payload. */
export function readEvent(text: string): { readonly name: string; readonly payload: unknown } {
	const given = parsed(text);
	if (typeof given === "object" && given !== null && !Array.isArray(given)) {
		const { event, payload, ...others } = given as Record<string, unknown>;
		if (typeof event === "string" && Object.keys(others).length === 0) return { name: event, payload };
	}
	return { name: messageEvent, payload: text };
}

/** Returns the text of the message that starts a workflow with this input. */
export function inputText(input: unknown): string {
	return JSON.stringify(input ?? null);
}

/** Reads the input of a workflow: JSON, or otherwise the text itself. */
export function readInput(text: string): unknown {
	const given = parsed(text);
	return given === undefined ? text : given;
}

/** Returns undefined if the text is not JSON. */
function parsed(text: string): unknown {
	try {
		return JSON.parse(text);
	} catch {
		return undefined;
	}
}
