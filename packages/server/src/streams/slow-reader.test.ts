// Readers that are slow, and readers that have stopped: by the clock of a test, over sinks that take when they are told.
import { describe, expect, test } from "vitest";
import { deltas, fakeService } from "../service.fixture.ts";
import { hello, setUp } from "../setup.fixture.ts";
import { EventStream, type Source, type StreamEnd } from "./event-stream.ts";
import { StreamTable } from "./stream-table.ts";

/** A stream of some pieces to a reader that takes when it is told, by a clock that goes when it is told. */
function play(pieces: readonly Uint8Array[], isBehind: boolean) {
	const left = [...pieces];
	const source: Source = { isBehind, take: () => left.shift() ?? "none", close() {} };
	let now = 0;
	const table = Object.assign(new StreamTable(10_000), { now: () => now });
	const taken: Uint8Array[] = [];
	const ended: (StreamEnd | "whole" | "cut")[] = [];
	const stream = new EventStream(
		{ start: () => source, table, ended: (reason) => ended.push(reason) },
		{
			write(piece) {
				taken.push(piece);
				return false;
			},
			end: () => ended.push("whole"),
			cut: () => ended.push("cut"),
		},
	);
	return {
		stream,
		ended,
		bytes: () => Buffer.concat(taken),
		largest: () => Math.max(...taken.map(({ byteLength }) => byteLength)),
		/** Time goes by, and the reader is looked at. */
		pass(milliseconds: number) {
			now += milliseconds;
			stream.beat(now);
		},
	};
}

const large = new Uint8Array(3_000_000).map((_, at) => at % 251);

describe("a large record", () => {
	test("is handed on in parts, whole and in order", () => {
		const { stream, bytes, largest, ended } = play([large, new Uint8Array([1, 2, 3])], false);
		for (let at = 0; at < 100; at++) stream.ready();
		expect(bytes().equals(Buffer.concat([large, Buffer.from([1, 2, 3])]))).toBe(true);
		expect(largest()).toBeLessThanOrEqual(128 * 1024);
		expect(ended).toEqual([]);
		stream.left();
	});

	test("may take a slow reader as long as it likes while it takes some of it", () => {
		const { stream, bytes, ended, pass } = play([large], true);
		for (let at = 0; at < 60; at++) {
			stream.ready();
			pass(4_000);
		}
		expect(ended).toEqual([]);
		expect(bytes().byteLength).toBeGreaterThanOrEqual(large.byteLength);
		stream.left();
	});

	test("is dropped with a reader that takes nothing more of it", () => {
		const { stream, ended, pass } = play([large], true);
		stream.ready();
		stream.ready();
		pass(4_900);
		expect(ended).toEqual([]);
		pass(200);
		expect(ended).toEqual(["slow", "cut"]);
	});

	test("is sent whole where the server closes in the middle of it", () => {
		const { stream, bytes, ended } = play([large], false);
		stream.ready();
		stream.end("closed");
		expect(bytes().equals(Buffer.from(large))).toBe(true);
		expect(ended).toEqual(["closed", "whole"]);
	});
});

test("of what a reader has not asked for nothing is written yet: the past waits as it was read", async () => {
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
	for (let at = 0; at < 6; at++) await reader?.read();
	expect(written).toBe(5);
	await reader?.cancel();
});
