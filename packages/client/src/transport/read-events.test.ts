// Bytes become the same events however they are cut into chunks.
import fc from "fast-check";
import { expect, test } from "vitest";
import { createClient } from "../client.ts";
import type { LoggedEvent } from "../wire/events.ts";
import { readOptions } from "./options.ts";
import { readEvents } from "./read-events.ts";

function streamOf(chunks: readonly Uint8Array[]): ReadableStream<Uint8Array> {
	return new ReadableStream({
		start(controller) {
			for (const chunk of chunks) controller.enqueue(chunk);
			controller.close();
		},
	});
}

function split(bytes: Uint8Array, places: readonly number[]): readonly Uint8Array[] {
	const cuts = [0, ...new Set(places.map((place) => place % (bytes.length + 1))), bytes.length];
	cuts.sort((one, other) => one - other);
	return cuts.slice(1).map((end, at) => bytes.slice(cuts[at], end));
}

const ending = fc.constantFrom("\n", "\r\n", "\r");
const record = fc.record({
	text: fc.string({ unit: "binary", maxLength: 30 }),
	end: ending,
	comment: fc.constantFrom("", ": ping", ":", ":naïve 🚲 data: {}"),
	space: fc.constantFrom("", " "),
});

async function watchSplit(bytes: Uint8Array, places: readonly number[]): Promise<readonly LoggedEvent[]> {
	const client = createClient({
		url: "http://fake",
		fetch: async () =>
			new Response(streamOf(split(bytes, places)), { headers: { "content-type": "text/event-stream" } }),
	});
	const events: LoggedEvent[] = [];
	for await (const logged of client.watch("s")) events.push(logged);
	return events;
}

test("records split at any byte, with any line ending and with comments, are the same events [API-087]", async () => {
	await fc.assert(
		fc.asyncProperty(
			fc.array(record, { minLength: 1, maxLength: 6 }),
			fc.array(fc.nat(), { maxLength: 40 }),
			async (records, places) => {
				const expected: LoggedEvent[] = records.map(({ text }, at) => ({
					id: `${at}.0.0`,
					event: { type: "text_delta", delta: `é🚲${text}` },
				}));
				expected.push({ id: "9.0.0", event: { type: "execute_complete", status: "completed" } });
				const lines = expected.map(({ id, event }, at) => {
					const { end, comment, space } = records[at] ?? { end: "\n", comment: "", space: " " };
					const data = `id:${space}${id}${end}data:${space}${JSON.stringify(event)}${end}${end}`;
					return comment === "" ? data : `${comment}${end}${end}${data}`;
				});
				const bytes = new TextEncoder().encode(lines.join(""));
				expect(await watchSplit(bytes, places)).toEqual(expected);
			},
		),
		{ numRuns: 300 },
	);
});

test("one byte at a time gives the same as all at once [API-087]", async () => {
	const event = { type: "text_delta", delta: "data: 漢字 🚲\n\nid: 7" } as const;
	const text = `: ping\r\n\r\nid: 1\r\ndata: ${JSON.stringify(event)}\r\n\r\nid: 2\ndata: {"type":"execute_complete","status":"completed"}\n\n`;
	const bytes = new TextEncoder().encode(text);
	const everywhere = Array.from(bytes, (_, at) => at);
	const events = await watchSplit(bytes, everywhere);
	expect(events).toEqual(await watchSplit(bytes, []));
	expect(events[0]).toEqual({ id: "1", event });
});

async function read(text: string, maxEventCharacters?: number): Promise<unknown> {
	const settings = readOptions({
		url: "",
		...(maxEventCharacters === undefined ? {} : { maxEventCharacters }),
	});
	const body = streamOf([new TextEncoder().encode(text)]);
	const events: unknown[] = [];
	try {
		for await (const { event } of readEvents(body, settings)) events.push(event);
	} catch (error) {
		return error;
	}
	return events;
}

test("a truncated record is not an event", async () => {
	expect(await read('id: 1\ndata: {"type":"text_start"}\n\nid: 2\ndata: {"type":"text_start"}\n')).toEqual([
		{ type: "text_start" },
	]);
});

test.each([
	['data: {"type":"text_start"}\n\n', "an event has no id"],
	["id: 1\ndata: {oops\n\n", "event 1 is not JSON"],
	["id: 1\ndata: 7\n\n", "event 1 has no type"],
])("an invalid event is reported as invalid: %j", async (text, what) => {
	expect(await read(text)).toMatchObject({
		code: "invalid_response",
		message: expect.stringContaining(what),
	});
});

test("an endless event is not buffered without limit", async () => {
	const error = await read(`id: 1\ndata: ${"x".repeat(2000)}`, 1000);
	expect(error).toMatchObject({
		code: "invalid_response",
		message: expect.stringContaining("longer than the 1000"),
	});
});
