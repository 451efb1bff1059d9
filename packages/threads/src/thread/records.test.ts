import fc from "fast-check";
import { memoryHost } from "holdfast";
import type { RecordSpace } from "holdfast/host";
import { expect, test } from "vitest";
import { type ThreadRecord, ThreadRecords } from "./records.ts";

/** Records of a new host, and the number of records that were listed. */
function counted(): { readonly records: ThreadRecords; readonly reads: { listed: number; calls: number } } {
	const host = memoryHost();
	const { records: own } = host;
	if (own === undefined) throw new Error("The host has no records.");
	const reads = { listed: 0, calls: 0 };
	const space: RecordSpace = {
		...own,
		async list(shelf, options) {
			const found = await own.list(shelf, options);
			reads.listed += found.length;
			reads.calls++;
			return found;
		},
	};
	return { records: new ThreadRecords({ ...host, records: space }, undefined), reads };
}

const record = (id: string, createdAt: number): ThreadRecord => ({
	id,
	agentId: "helper",
	userId: null,
	createdAt,
	tags: [],
	terminated: null,
	isReady: true,
});

test("a page of threads costs the same, however many there are", async () => {
	const { records, reads } = counted();
	const first = 1_700_000_000_000_000;
	// Bursts of threads, minutes apart.
	for (let each = 0; each < 6_000; each++)
		await records.create(record(`t${each}`, first + each + Math.floor(each / 50) * 60_000_000));
	const pages: number[] = [];
	const ids: string[] = [];
	for (let before: string | undefined; ; before = ids.at(-1)) {
		const from = { ...reads };
		const page = await records.list({ limit: 50, ...(before === undefined ? {} : { before }) });
		if (page.length === 0) break;
		pages.push(reads.listed - from.listed);
		expect(reads.calls - from.calls).toBeLessThan(40);
		ids.push(...page.map(({ id }) => id));
	}
	expect(ids).toEqual(Array.from({ length: 6_000 }, (_, each) => `t${5_999 - each}`));
	expect(pages).toHaveLength(120);
	expect(Math.max(...pages)).toBeLessThan(3_000);
});

test("threads created at any times, even at once, are listed newest first, from any of them", async () => {
	const times = fc.array(
		fc.oneof(fc.integer({ min: 0, max: 3 }), fc.integer({ min: 0, max: 10 ** 16 }), fc.constant(10 ** 15)),
		{ maxLength: 20 },
	);
	await fc.assert(
		fc.asyncProperty(times, fc.integer({ min: 0, max: 450 }), fc.nat(), async (given, more, at) => {
			const { records } = counted();
			const all = [...given, ...Array.from({ length: more }, (_, each) => 10 ** 15 + (each % 7))];
			for (const [each, time] of all.entries()) await records.create(record(`t${each}`, time));
			const place = (each: number): string => `${String(all[each]).padStart(17, "0")}.t${each}`;
			const expected = [...all.keys()]
				.map(place)
				.sort()
				.reverse()
				.map((name) => name.slice(18));
			expect((await records.list()).map(({ id }) => id)).toEqual(expected);
			if (expected.length === 0) return;
			const before = expected[at % expected.length] as string;
			const rest = (await records.list({ before })).map(({ id }) => id);
			expect(rest).toEqual(expected.slice(expected.indexOf(before) + 1));
		}),
		{ numRuns: 30 },
	);
});
