// Sessions whose entries are long: how much of them a request reads at once, and in total.
import { memoryHost } from "holdfast";
import { encodeFact } from "holdfast/host";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { type Inspected, inspect } from "./inspected.fixture.ts";

const turns = 12;
const longCharacters = 2_000_000;
/** Characters of each read of the journal since the last request. */
let reads: number[] = [];
let opened: Inspected;

beforeEach(async () => {
	const host = memoryHost();
	let said = 0;
	opened = inspect(() => `${"y".repeat(longCharacters)} walnut-${++said}`, { host });
	for (let turn = 0; turn < turns; turn++) await opened.say("s", "Say much");
	const { journal } = host;
	const read = journal.read.bind(journal);
	vi.spyOn(journal, "read").mockImplementation(async (...given) => {
		const entries = await read(...given);
		reads.push(entries.reduce((sum, { fact }) => sum + encodeFact(fact).body.length, 0));
		return entries;
	});
});
afterEach(async () => {
	vi.restoreAllMocks();
	await opened.close();
});

async function asked(path: string) {
	reads = [];
	const { body } = await opened.get(path);
	return { body, most: Math.max(...reads), total: reads.reduce((sum, each) => sum + each, 0) };
}

test("a page of entries ends when it has read enough, and the next one continues", async () => {
	const seqs: number[] = [];
	for (let isLast = false; !isLast; ) {
		const { body, total } = await asked(`session/s/entries?after=${seqs.at(-1) ?? 0}`);
		expect(total).toBeLessThan(4_000_000 + 2 * longCharacters);
		expect(body.entries).not.toHaveLength(0);
		seqs.push(...body.entries.map(({ seq }: { seq: number }) => seq));
		({ isLast } = body);
	}
	expect(seqs).toEqual(seqs.map((_, index) => index + 1));
	expect(seqs.length).toBeGreaterThanOrEqual(4 * turns);
});

test("a search ends within a session when it has read enough, and continues where it ended", async () => {
	let after = 0;
	let requests = 0;
	for (;;) {
		requests++;
		const { body, most, total } = await asked(`search?q=walnut-${turns}&ids=s,t&after=${after}`);
		expect(most).toBeLessThan(2.5 * longCharacters);
		expect(total).toBeLessThan(16_000_000 + 3 * longCharacters);
		expect(body.cut).toEqual([]);
		if (body.next === undefined) {
			expect(body).toMatchObject({ found: [{ sessionId: "s" }], searched: 2 });
			break;
		}
		expect(body).toMatchObject({ found: [], searched: 0, next: { sessionId: "s" } });
		expect(body.next.after).toBeGreaterThan(after);
		({ after } = body.next);
	}
	expect(requests).toBe(2);
});

test("totals and requests of a long session are read a part at a time", async () => {
	for (const path of ["counts?ids=s", `session/s/steps/${4 * turns - 1}`])
		expect((await asked(path)).most).toBeLessThan(2.5 * longCharacters);
});
