// Readers that are slow, and readers that have stopped: by the clock of a test, over sinks that take when the test says so.
import { describe, expect, test } from "vitest";
import { deltas, fakeService } from "../service.fixture.ts";
import { hello, setUp } from "../setup.fixture.ts";
import { EventStream, type Source } from "./event-stream.ts";
import { type StreamEnd, StreamTable } from "./stream-table.ts";

/** Streams to readers that take, by a clock that moves, when the test says so. */
function play(maxBufferedBytes = 1_000_000) {
	let now = 0;
	const table = Object.assign(new StreamTable(10_000, maxBufferedBytes), { now: () => now });
	return {
		/** Time goes by, and all readers are looked at. */
		pass(milliseconds: number) {
			now += milliseconds;
			table.look();
		},
		open(pieces: readonly Uint8Array[], isLagging = false) {
			const left = [...pieces];
			const source: Source = { isLagging, take: () => left.shift() ?? "none", close() {} };
			const taken: Uint8Array[] = [];
			const ended: (StreamEnd | "whole" | "cut")[] = [];
			const sink = {
				write(piece: Uint8Array) {
					taken.push(piece);
					return false;
				},
				end: () => ended.push("whole"),
				cut: () => ended.push("cut"),
			};
			const options = { start: () => source, table, ended: (reason: StreamEnd) => ended.push(reason) };
			return {
				stream: new EventStream(options, sink),
				ended,
				bytes: () => Buffer.concat(taken),
				largest: () => Math.max(...taken.map(({ byteLength }) => byteLength)),
			};
		},
	};
}

const large = new Uint8Array(3_000_000).map((_, at) => at % 251);

describe("a large record", () => {
	test("is sent in parts, whole and in order", () => {
		const { stream, bytes, largest, ended } = play().open([large, new Uint8Array([1, 2, 3])]);
		for (let at = 0; at < 100; at++) stream.ready();
		expect(bytes().equals(Buffer.concat([large, Buffer.from([1, 2, 3])]))).toBe(true);
		expect(largest()).toBeLessThanOrEqual(128 * 1024);
		expect(ended).toEqual([]);
		stream.left();
	});

	test("can have a reader that lags far behind as long as it keeps reading", () => {
		const { open, pass } = play();
		const { stream, bytes, ended } = open([large], true);
		for (let at = 0; at < 60; at++) {
			stream.ready();
			pass(4_000);
		}
		expect(ended).toEqual([]);
		expect(bytes().byteLength).toBeGreaterThanOrEqual(large.byteLength);
		stream.left();
	});

	test("is dropped if its reader lags far behind and stops reading", () => {
		const { open, pass } = play();
		const { stream, ended } = open([large], true);
		stream.ready();
		stream.ready();
		pass(4_900);
		expect(ended).toEqual([]);
		pass(200);
		expect(ended).toEqual(["slow", "cut"]);
	});

	test("waits for a few readers without limit, and for a crowd five seconds: then only active readers stay", () => {
		for (const [count, stay] of [
			[20, 20],
			[30, 1],
		] as const) {
			const { open, pass } = play(1_000_000);
			const readers = Array.from({ length: count }, () => open([large]));
			for (const { stream } of readers) stream.ready();
			for (let at = 0; at < 3; at++) {
				pass(2_000);
				readers[0]?.stream.ready();
			}
			expect(readers.filter(({ ended }) => ended.length === 0)).toHaveLength(stay);
			pass(39_000);
			pass(2_000);
			for (const { ended } of readers) expect(ended).toEqual(["slow", "cut"]);
		}
	});

	test("is sent whole if the server closes in the middle of it", () => {
		const { stream, bytes, ended } = play().open([large]);
		stream.ready();
		stream.end("closed");
		expect(bytes().equals(Buffer.from(large))).toBe(true);
		expect(ended).toEqual(["closed", "whole"]);
	});
});

test("writes nothing that a reader has not requested: earlier events wait as they were read", async () => {
	let written = 0;
	const record = {
		type: "text_delta",
		delta: "",
		toJSON() {
			written++;
			return { type: "text_delta", delta: "x".repeat(100_000) };
		},
	} as const;
	const service = fakeService({ holds: true, say: () => deltas(1) });
	const { get, post } = setUp(service);
	await (await post("/api/agent/execute", { ...hello, sessionId: "s" })).body?.cancel();
	service.emit("default", "s", [record, record, record, record, record]);
	const reader = (await get("/api/agent/session/s/events")).body?.getReader();
	written = 0;
	await reader?.read();
	expect(written).toBeLessThanOrEqual(1);
	// No more reads than it takes: the next would wait for a sign of life, which comes after many seconds.
	for (let at = 0; at < 6 && written < 5; at++) await reader?.read();
	expect(written).toBe(5);
	await reader?.cancel();
});
