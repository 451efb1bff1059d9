// Writes a logged event for server-sent events: one record, its id, its JSON on one line.
import type { LoggedEvent } from "holdfast/execute";

const encoder = new TextEncoder();

/** A comment line: keeps a connection open, has no id and is not an event. */
export const heartbeat: Uint8Array = encoder.encode(": ping\n\n");

/** Returns one record. JSON never contains a raw line break, so the data is one line. */
export function recordOf({ id, event }: LoggedEvent): string {
	return `id: ${id}\ndata: ${JSON.stringify(event)}\n\n`;
}

/** Encodes text for the wire. */
export function encode(text: string): Uint8Array {
	return encoder.encode(text);
}

/** Whether an event ends an execution. */
export function isComplete({ event }: LoggedEvent): boolean {
	return event.type === "execute_complete";
}

/** Whether an event ends an execution that has failed. */
export function hasFailed({ event }: LoggedEvent): boolean {
	return event.type === "execute_complete" && event.status === "error";
}
