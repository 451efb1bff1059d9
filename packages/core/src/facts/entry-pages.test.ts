import { expect, test } from "vitest";
import { readBounded } from "./entry-pages.ts";
import type { Entry } from "./fact.ts";
import { eventsExpired } from "./journal-errors.ts";

/** A journal with entries of these sizes, and how many entries each read returned. */
function journalOf(sizes: readonly number[], foldedAfter = Number.POSITIVE_INFINITY) {
	const reads: number[] = [];
	const entries = sizes.map((size, index) => {
		const fact = { kind: "note", topic: "t", step: 1, value: "x".repeat(size) };
		return { seq: index + 1, at: 1, runId: "r", fact } as Entry;
	});
	const source = {
		read(key: string, { after = 0, limit = Number.POSITIVE_INFINITY } = {}) {
			if (after >= foldedAfter) throw eventsExpired(key, after, after + 1);
			const page = entries.slice(after, after + limit);
			reads.push(page.length);
			return page;
		},
	};
	const read = async (after = 0, limit = 1_000, characters = 100_000) =>
		(await readBounded(source, "k", { after, limit, characters })).map(({ seq }) => seq);
	return { reads, read };
}

const upTo = (last: number) => Array.from({ length: last }, (_, index) => index + 1);

test("short entries are read in a few reads, up to the limit", async () => {
	const { read, reads } = journalOf(Array(300).fill(10));
	expect(await read(0, 200)).toEqual(upTo(200));
	expect(reads.length).toBeLessThan(8);
	expect(await read(250)).toEqual(upTo(300).slice(250));
	expect(await read(300)).toEqual([]);
});

test("long entries end the read early, at least one is returned, and few are read at a time", async () => {
	const { read, reads } = journalOf(Array(50).fill(40_000));
	expect(await read()).toEqual([1, 2, 3, 4]);
	const { read: readLonger } = journalOf(Array(50).fill(200_000));
	expect((await readLonger(49)).length).toBe(1);
	expect(reads).toEqual([4]);
	const rising = journalOf([...Array(100).fill(10), ...Array(900).fill(30_000)]);
	await rising.read();
	expect(Math.max(...rising.reads)).toBeLessThanOrEqual(64);
});

test("entries that are folded during the read end it; the next one fails", async () => {
	const { read } = journalOf(Array(50).fill(10), 4);
	expect(await read()).toEqual([1, 2, 3, 4]);
	await expect(read(4)).rejects.toMatchObject({ code: "events_expired" });
});
