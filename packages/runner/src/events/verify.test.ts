// What the check of a record detects: with hashes alone, with a key, and with anchors.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { configured, echo, finish, use } from "../agent/agent.fixture.ts";
import { RunnerAgent } from "../agent/index.ts";
import type { RecordAnchor, RunnerEvent, StoredEvent } from "../contract/index.ts";
import { chained, noHash } from "./hash-chain.ts";
import { type EventStoreOptions, fileEventStore, memoryEventStore } from "./index.ts";

const folder = mkdtempSync(join(tmpdir(), "holdfast-verify-"));
afterAll(() => rmSync(folder, { recursive: true }));

const key = "k".repeat(32);
const other = "o".repeat(32);
let folders = 0;

/** A store with one run of 6 events, and its file. */
async function recorded(options: EventStoreOptions = {}, runId = "r1", count = 6) {
	const place = join(folder, `${++folders}`);
	const store = fileEventStore(place, options);
	for (let seq = 1; seq <= count; seq++) await store.append(eventOf(runId, seq, count));
	const path = join(place, `${runId}.jsonl`);
	return {
		store,
		path,
		lines: readFileSync(path, "utf8").split("\n").filter(Boolean),
		write: (lines: readonly string[]) => writeFileSync(path, lines.map((line) => `${line}\n`).join("")),
		again: (more: EventStoreOptions = options) => fileEventStore(place, more),
	};
}

function eventOf(
	runId: string,
	seq: number,
	count: number,
	data: unknown = { seq, 10: 1, 9: -0, text: "\ud800 é" },
): RunnerEvent {
	const type = seq === 1 ? "run.start" : seq === count ? "run.end" : "memory";
	return { seq, runId, sessionId: "s", type, time: new Date(seq * 1000).toISOString(), data };
}

/** The same record with other data from an event on, and new hashes. */
function rewritten(runId: string, from: number, count: number, keys: readonly string[] = []): string[] {
	let previous = noHash;
	return Array.from({ length: count }, (_, at) => {
		const event = eventOf(runId, at + 1, count, ...(at + 1 >= from ? ["forged"] : []));
		const stored = chained(event, previous, { keys, acceptsUnkeyed: false });
		previous = stored.hash;
		return JSON.stringify(stored);
	});
}

describe("without a key", () => {
	test("another run's record in place of this one is detected", async () => {
		const { store, write } = await recorded();
		const { lines } = await recorded({}, "r2");
		write(lines);
		expect(await store.verify("r1")).toEqual({ ok: false, seq: 1 });
	});

	test.each([
		["a member twice, the last of them genuine", (line: string) => line.replace("{", '{"type":"tool.call",')],
		["a member twice, inside", (line: string) => line.replace('"data":{', '"data":{"seq":9,')],
		["blanks", (line: string) => ` ${line}`],
		["blanks inside", (line: string) => line.replace(",", ", ")],
		["a number in another form", (line: string) => line.replace('"seq":3', '"seq":3.0')],
		["a name in another form", (line: string) => line.replace('"type"', '"\\u0074ype"')],
		["a member more", (line: string) => line.replace("}", ',"more":1}')],
	])("%s is detected as an altered event", async (_, change) => {
		const { store, lines, write } = await recorded();
		expect(await store.verify("r1")).toEqual({ ok: true });
		write(lines.map((line, at) => (at === 2 ? change(line) : line)));
		expect(await store.verify("r1")).toEqual({ ok: false, seq: 3 });
	});

	test("a record that was rewritten with new hashes is not detected, as the guide explains", async () => {
		const { store, write } = await recorded();
		write(rewritten("r1", 3, 6));
		expect(await store.verify("r1")).toEqual({ ok: true });
	});
});

describe("with a key", () => {
	test("a record verifies only with the key and with a later one that includes it", async () => {
		const { store, again } = await recorded({ key });
		expect(await store.verify("r1")).toEqual({ ok: true, keyed: true });
		expect(await again({ key: Buffer.from(key) }).verify("r1")).toEqual({ ok: true, keyed: true });
		expect(await again({ key: other, previousKeys: [key] }).verify("r1")).toEqual({ ok: true, keyed: true });
		expect(await again({ key: other }).verify("r1")).toEqual({ ok: false, seq: 1 });
		// The hashes can be checked by everybody.
		expect(await again({}).verify("r1")).toEqual({ ok: true });
	});

	test("a record that was rewritten with new hashes is detected, with the old codes, other codes or none", async () => {
		const { store, lines, write, again } = await recorded({ key });
		const codes = lines.map((line) => (JSON.parse(line) as StoredEvent).mac);
		write(rewritten("r1", 3, 6).map((line, at) => JSON.stringify({ ...JSON.parse(line), mac: codes[at] })));
		expect(await store.verify("r1")).toEqual({ ok: false, seq: 3 });
		write(rewritten("r1", 3, 6, [other]));
		expect(await store.verify("r1")).toEqual({ ok: false, seq: 1 });
		write(rewritten("r1", 3, 6));
		expect(await store.verify("r1")).toEqual({ ok: false, seq: 1 });
		for (const mac of ["", "é".repeat(64), 5, null]) {
			write(lines.map((line, at) => (at === 3 ? JSON.stringify({ ...JSON.parse(line), mac }) : line)));
			expect(await store.verify("r1")).toEqual({ ok: false, seq: 4 });
		}
		// A code is never left out once there was one.
		write(lines.map((line, at) => (at > 3 ? JSON.stringify({ ...JSON.parse(line), mac: undefined }) : line)));
		expect(await again({ key, unkeyed: "accept" }).verify("r1")).toEqual({ ok: false, seq: 5 });
	});

	test("records from before there was a key verify where they are accepted, and are reported as having none", async () => {
		const { again } = await recorded();
		expect(await again({ key }).verify("r1")).toEqual({ ok: false, seq: 1 });
		expect(await again({ key, unkeyed: "accept" }).verify("r1")).toEqual({ ok: true, keyed: false });
	});

	test("a store with an invalid key is rejected", () => {
		for (const options of [
			{ key: "short" },
			{ previousKeys: [key] },
			{ key, previousKeys: [""] },
			{ anchorEvery: 0 },
			{ unkeyed: "no" as never },
		])
			expect(() => memoryEventStore(options)).toThrow(expect.objectContaining({ code: "CONFIG_INVALID" }));
	});
});

describe("with anchors", () => {
	test("a record that was rewritten or removed is detected, even if it was done with the key", async () => {
		const anchors: RecordAnchor[] = [];
		const { store, write, lines } = await recorded({
			key,
			anchorEvery: 2,
			anchor: (end) => void anchors.push(end),
		});
		expect(anchors.map(({ seq }) => seq)).toEqual([2, 4, 6]);
		expect(await store.verify("r1", anchors)).toEqual({ ok: true, keyed: true });
		write(rewritten("r1", 3, 6, [key]));
		expect(await store.verify("r1")).toEqual({ ok: true, keyed: true });
		expect(await store.verify("r1", anchors)).toEqual({ ok: false, seq: 4 });
		write(rewritten("r1", 1, 4, [key]));
		expect(await store.verify("r1", anchors)).toEqual({ ok: false, seq: 2 });
		write([]);
		expect(await store.verify("r1", anchors)).toEqual({ ok: false, seq: 1 });
		write(lines);
		expect(await store.verify("r1", [...anchors, { ...(anchors[0] as RecordAnchor), hash: noHash }])).toEqual(
			{ ok: false, seq: 2 },
		);
	});

	test("if one cannot be written, the run continues with a warning and its record is incomplete", async () => {
		const eventStore = memoryEventStore({
			anchorEvery: 2,
			anchor: () => Promise.reject(new Error("sink full")),
		});
		const result = await new RunnerAgent(
			configured([use("echo", 1), finish], { eventStore, tools: [echo] }),
		).runOnce();
		expect(result.success).toBe(true);
		expect(result.diagnostics?.warnings?.join()).toContain("sink full");
		expect(await eventStore.isIncomplete?.(result.id)).toBe(true);
		// Nothing was lost: the record itself is whole.
		expect(await eventStore.verify(result.id)).toEqual({ ok: true });
	});
});
