// A long fold uses many short transactions: it is never visible half-done, and others can write throughout.

import { append, ended, eventually, note, started, take } from "@holdfast/testing/cases";
import { describe, expect, test, vi } from "vitest";
import type { Fact } from "../facts/fact.ts";
import type { Lease } from "../host/journal.ts";
import { fewRows } from "./hidden-sessions.ts";
import { oneFile, slowly } from "./long-work.fixture.ts";
import { startRemoteWorker } from "./remote-worker.fixture.ts";
import type { SqliteJournal } from "./sqlite-journal.ts";

const file = oneFile();
const { open, countOf } = file;

/** Runs of ten entries each. */
async function fill(journal: SqliteJournal, key: string, runs: number): Promise<void> {
	const lease = await take(journal, key);
	const middle = Array.from({ length: 8 }, () => note("x".repeat(300)));
	const appends: Promise<unknown>[] = [];
	for (let run = 1; run <= runs; run++)
		appends.push(append(lease, `${key}-${run}`, started, ...middle, ended));
	await Promise.all(appends);
	await lease.release();
}

const folded = (what: string): Fact => ({ kind: "folded", state: what }) as unknown as Fact;

async function fold(lease: Lease, key: string, seq: number): Promise<unknown> {
	return lease.append({ at: 1, runId: `${key}-${seq / 10}`, facts: [folded(`to ${seq}`)], replaces: seq });
}

const rows = (): number => countOf("SELECT count(*) AS count FROM entries WHERE session > 0");
const left = (): number => countOf("SELECT count(*) AS count FROM meta WHERE name LIKE 'folded %'");
const begun = (): Promise<void> => eventually("rows are left", () => left() > 0);
const nothingLeft = (): Promise<void> => eventually("no row is left", () => left() === 0);
const seqs = async (journal: SqliteJournal, after = 0): Promise<number[]> =>
	(await journal.read("s", { after })).map(({ seq }) => seq);

const runs = 6 * fewRows;
const all = 10 * runs;
const until = all - 20;
const following = Array.from({ length: 20 }, (_, index) => until + 1 + index);

test("a small compaction is one transaction", async () => {
	const journal = open();
	await fill(journal, "s", 10);
	const lease = await take(journal, "s");
	const before = journal.transactions;
	vi.spyOn(performance, "now").mockReturnValue(performance.now());
	await fold(lease, "s", 90);
	expect([journal.transactions - before, rows(), left()]).toEqual([1, 11, 0]);
});

test("others can write while another process compacts a long session", async () => {
	const journal = open();
	await fill(journal, "s", 6_000);
	const folder = await startRemoteWorker({ path: file.path });
	file.far.push(folder);
	const [lease, theirs] = [await take(journal, "w"), await take(folder, "s")];
	await append(lease, "run-w", started);
	let over = false;
	const folding = fold(theirs, "s", 60_000).finally(() => {
		over = true;
	});
	let between = 0;
	while (!over) {
		await append(lease, "run-w", note("hm"));
		if (left() > 0) between++;
		await new Promise((wake) => setTimeout(wake, 1));
	}
	await folding;
	expect(between).toBeGreaterThan(0);
	expect([await seqs(journal), left()]).toEqual([[60_000], 0]);
});

describe("while rows of a compaction are left", () => {
	/** An interrupted fold, as seen by another journal of the same file. */
	async function half(): Promise<SqliteJournal> {
		const [one, two] = [open(), open()];
		await fill(one, "s", runs);
		slowly();
		const folding = fold(await take(one, "s"), "s", until);
		await begun();
		await one.close();
		await folding;
		vi.restoreAllMocks();
		expect([rows() > all / 2, left()]).toEqual([true, 1]);
		return two;
	}

	test("others read the compacted entry, and none of the entries it represents", async () => {
		const two = await half();
		expect(await seqs(two)).toEqual([until, ...following]);
		expect((await two.read("s", { limit: 1 }))[0]?.fact).toEqual(folded(`to ${until}`));
		expect(await seqs(two, until)).toEqual(following);
		for (const after of [1, 5, until - 2])
			await expect(async () => two.read("s", { after })).rejects.toMatchObject({ code: "events_expired" });
		expect((await two.head("s"))?.seq).toBe(all);
		expect(await two.runs.locate(`s-${until / 10 - 1}`)).toBeUndefined();
		expect((await two.runs.locate(`s-${runs}`))?.first).toBe(all - 9);
	});

	test("others read no chunks of the entries it represents", async () => {
		const one = open();
		const two = open();
		await fill(one, "s", runs);
		const chunk =
			"INSERT INTO chunks (session, seq, sub, body) VALUES ((SELECT id FROM sessions), ?, 1, '1')";
		for (const seq of [5, until, until + 1]) file.looker.prepare(chunk).run(seq);
		slowly();
		const folding = fold(await take(one, "s"), "s", until);
		await begun();
		await one.close();
		await folding;
		const read = await two.readChunks?.("s", { after: { seq: 0, sub: 0 }, through: all, limit: 10 });
		expect(read?.map(({ seq }) => seq)).toEqual([until, until + 1]);
		vi.restoreAllMocks();
		await two.sweep();
		expect(countOf("SELECT count(*) AS count FROM chunks")).toBe(2);
	});

	test("the next journal that opens the file removes them", async () => {
		await half();
		const next = open();
		await nothingLeft();
		expect([rows(), await seqs(next)]).toEqual([21, [until, ...following]]);
	});

	test("the session continues, and is compacted again with newer entries", async () => {
		const two = await half();
		const lease = await take(two, "s");
		await append(lease, "new", started, ended);
		await expect(fold(lease, "s", until - 10)).rejects.toMatchObject({ code: "history_unsettled" });
		await fold(lease, "s", until + 10);
		expect(await seqs(two)).toEqual([...following.slice(9), all + 1, all + 2]);
		expect([rows(), left()]).toEqual([13, 0]);
		expect((await two.read("s")).map(({ runId }) => runId).slice(-3)).toEqual([`s-${runs}`, "new", "new"]);
	});

	test("a fork copies the compacted entry, and not those it represents", async () => {
		const two = await half();
		await expect(two.fork("s", "early", until - 10)).rejects.toMatchObject({ code: "fork_unsettled" });
		await two.fork("s", "f", all);
		expect(await two.read("f")).toEqual(await two.read("s"));
		expect(
			countOf("SELECT count(*) AS count FROM entries WHERE session = (SELECT max(id) FROM sessions)"),
		).toBe(21);
	});

	test("the session is removed with them, and the next one under its number is complete", async () => {
		const two = await half();
		await two.delete("s");
		expect([rows(), left()]).toEqual([0, 0]);
		await fill(two, "s", 1);
		expect(await seqs(two)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
	});
});
