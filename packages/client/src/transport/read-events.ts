// Turns the bytes of an event stream into events. Reads only when the consumer asks for more than is available: a slow
// consumer slows down the connection, and only one chunk and one unfinished record are held (keeps I7).

import { createParser, type EventSourceMessage } from "eventsource-parser";
import { ClientError } from "../errors/index.ts";
import type { LoggedEvent } from "../wire/index.ts";
import { withinIdleTime } from "./idle-time.ts";
import type { Settings } from "./options.ts";

/** An event, and its size on the wire in characters. */
export interface ReceivedEvent extends LoggedEvent {
	readonly characters: number;
}

/**
 * Yields the events in the body of a response. Ends at the end of the body; a record that is cut off there is not an
 * event.
 *
 * @throws ClientError `connection_lost`, `invalid_response`.
 */
export async function* readEvents(
	body: ReadableStream<Uint8Array>,
	settings: Settings,
): AsyncGenerator<ReceivedEvent, void, undefined> {
	for await (const record of readRecords(body, settings)) yield toEvent(record);
}

/**
 * Yields the records in the body of a response, with any content.
 *
 * @throws ClientError `connection_lost`, `invalid_response`.
 */
export async function* readRecords(
	body: ReadableStream<Uint8Array>,
	settings: Settings,
): AsyncGenerator<EventSourceMessage, void, undefined> {
	const reader = body.getReader();
	const decoder = new TextDecoder();
	const ready: EventSourceMessage[] = [];
	let isTooLong = false;
	const parser = createParser({
		maxBufferSize: settings.maxEventCharacters,
		onEvent: (message) => ready.push(message),
		onError: ({ type }) => {
			isTooLong ||= type === "max-buffer-size-exceeded";
		},
	});
	try {
		for (;;) {
			const { done, value } = await withinIdleTime(settings, reader.read());
			if (done) return;
			parser.feed(decoder.decode(value, { stream: true }));
			yield* ready.splice(0);
			if (isTooLong) {
				const limit = settings.maxEventCharacters;
				throw invalidResponse(`an event is longer than the ${limit} characters of \`maxEventCharacters\``);
			}
		}
	} finally {
		// Not awaited: a connection that hangs would block its reader too.
		reader.cancel().catch(() => {});
	}
}

function toEvent({ id, data }: EventSourceMessage): ReceivedEvent {
	if (id === undefined || id === "") throw invalidResponse("an event has no id");
	let event: unknown;
	try {
		event = JSON.parse(data);
	} catch (cause) {
		throw invalidResponse(`event ${id} is not JSON`, cause);
	}
	if (typeof (event as { type?: unknown } | null)?.type !== "string")
		throw invalidResponse(`event ${id} has no type`);
	return { id, event: event as LoggedEvent["event"], characters: data.length };
}

/** The response is not from a Holdfast server. */
export function invalidResponse(what: string, cause?: unknown): ClientError {
	return new ClientError(
		"invalid_response",
		`The server's answer cannot be understood: ${what}. Check that \`url\` leads to a Holdfast server.`,
		cause === undefined ? {} : { cause },
	);
}
