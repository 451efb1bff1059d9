import { append, ended, eventually, note, started, take } from "@holdfast/testing/cases";
import { expect, test, vi } from "vitest";
import type { Entry, Fact } from "../facts/fact.ts";
import type { Journal } from "../host/journal.ts";
import { fewRows } from "./hidden-sessions.ts";
import { oneFile, slowly } from "./long-work.fixture.ts";
import { startRemoteWorker } from "./remote-worker.fixture.ts";

const file = oneFile();
const { open, countOf } = file;

async function fill(journal: Journal, key: string, count: number): Promise<void> {
	const lease = await take(journal, key);
	const text = "x".repeat(300);
	for (let left = count; left > 0; left -= 1_000) {
		const middle = Array.from({ length: Math.min(left, 1_000) - 2 }, () => note(text));
		await append(lease, `run-${key}-${left}`, started, ...middle, ended);
	}
	await lease.release();
}

/** A fork in progress, whose outcome the test checks later. */
function forking(journal: Journal, to: string, until: number): Promise<void> {
	const fork = Promise.resolve(journal.fork("s", to, until));
	fork.catch(() => {});
	return fork;
}

const rows = (): number => countOf("SELECT count(*) AS count FROM entries WHERE session > 0");
const hidden = (): number => countOf("SELECT count(*) AS count FROM sessions WHERE key LIKE '\"%'");
const begun = (): Promise<void> => eventually("it is begun", () => hidden() > 0);
const nothingHidden = (): Promise<void> => eventually("nothing is left", () => hidden() === 0);
const keys = async (journal: Journal): Promise<string[]> => (await journal.list()).map(({ key }) => key);
const some = 12 * fewRows;

test("a small fork and a small removal are one transaction each", async () => {
	const journal = open();
	await fill(journal, "s", 100);
	const before = journal.transactions;
	vi.spyOn(performance, "now").mockReturnValue(performance.now());
	await journal.fork("s", "f", 100);
	await journal.delete("s");
	expect([journal.transactions - before, rows(), hidden()]).toEqual([2, 100, 0]);
});

test("others can write while another process forks and removes a long session", async () => {
	const journal = open();
	await fill(journal, "s", 60_000);
	const forker = await startRemoteWorker({ path: file.path });
	file.far.push(forker);
	const lease = await take(journal, "w");
	await append(lease, "run-w", started);
	/** Writes until the work ends; returns how many writes happened while it was in progress. */
	async function writeWhile(work: unknown): Promise<number> {
		let over = false;
		const working = Promise.resolve(work).finally(() => {
			over = true;
		});
		let between = 0;
		while (!over) {
			await append(lease, "run-w", note("hm"));
			if (hidden() > 0) between++;
			await new Promise((wake) => setTimeout(wake, 1));
		}
		await working;
		return between;
	}
	expect(await writeWhile(forker.fork("s", "f", 60_000))).toBeGreaterThan(4);
	expect(await writeWhile(forker.delete("s"))).toBeGreaterThan(4);
	const among = `SELECT count(*) AS count FROM entries e JOIN sessions w ON w.id = e.session AND w.key = 'w'
		JOIN sessions f ON f.key = 'f' WHERE e.id > (SELECT min(id) FROM entries WHERE session = f.id)
		AND e.id < (SELECT max(id) FROM entries WHERE session = f.id)`;
	expect(countOf(among)).toBeGreaterThan(4);
	expect((await journal.read("f")).length).toBe(60_000);
	expect([await keys(journal), hidden()]).toEqual([["f", "w"], 0]);
});

test("a fork whose source is deleted in the meantime is rejected, and leaves nothing", async () => {
	const [one, two] = [open(), open()];
	await fill(one, "s", some);
	slowly();
	const fork = forking(one, "f", some);
	await begun();
	expect(await keys(two)).toEqual(["s"]);
	await two.delete("s");
	await expect(fork).rejects.toMatchObject({ code: "fork_unsettled" });
	expect([await keys(two), rows(), hidden()]).toEqual([[], 0, 0]);
});

test("a fork whose key is taken in the meantime is rejected, and leaves nothing", async () => {
	const [one, two] = [open(), open()];
	await fill(one, "s", some);
	slowly();
	const forks = [one.fork("s", "f", some), two.fork("s", "f", some)] as Promise<void>[];
	const outcomes = await Promise.allSettled(forks);
	const refused = outcomes.flatMap((each) => (each.status === "rejected" ? [each.reason.code] : []));
	expect(refused).toEqual(["session_exists"]);
	expect(await two.read("f")).toEqual(await one.read("s"));
	expect([rows(), hidden()]).toEqual([2 * some, 0]);
});

test("a fork without enough space is rejected, and leaves nothing", async () => {
	const one = open({ maxFileSize: 600_000 });
	await fill(one, "s", some);
	slowly();
	await expect(one.fork("s", "f", some)).rejects.toMatchObject({ code: "disk_full" });
	expect([await keys(one), rows(), hidden()]).toEqual([["s"], some, 0]);
});

test("a journal that closes stops its forks and removals; the next one that opens removes their leftovers", async () => {
	const [one, two] = [open(), open()];
	await fill(one, "s", some);
	await fill(one, "gone", some);
	slowly();
	const fork = forking(one, "f", some);
	const removal = two.delete("gone");
	await eventually("both are begun", () => hidden() === 2);
	await Promise.all([one.close(), two.close()]);
	await expect(fork).rejects.toMatchObject({ code: "journal_closed" });
	await removal;
	expect(hidden()).toBe(2);
	vi.restoreAllMocks();
	const next = open();
	await nothingHidden();
	expect([await keys(next), rows()]).toEqual([["s"], some]);
	await next.fork("s", "f", some);
	expect(await next.read("f")).toEqual(await next.read("s"));
});

test("a fork whose copy was removed, or whose source was compacted, restarts and is complete", async () => {
	const [one, two] = [open(), open()];
	await fill(one, "s", 1_000);
	await fill(one, "s", 20);
	slowly();
	const swept = forking(one, "swept", 1_020);
	await begun();
	// As for a worker wrongly considered dead.
	file.looker.exec("UPDATE sessions SET owner = NULL WHERE key LIKE '\"%'");
	await two.sweep();
	await swept;
	expect(await two.read("swept")).toEqual(await two.read("s"));
	const folded = forking(one, "folded", 1_020);
	await begun();
	const lease = await take(two, "s");
	const { at, runId } = (await two.read("s", { after: 999, limit: 1 }))[0] as Entry;
	const facts = [{ kind: "folded", state: "what it came to" } as unknown as Fact];
	await lease.append({ at, runId, facts, replaces: 1_000 });
	await folded;
	expect((await two.read("folded")).map(({ seq }) => seq)[0]).toBe(1_000);
	expect(await two.read("folded")).toEqual(await two.read("s"));
	expect([rows(), hidden()]).toEqual([1_020 + 2 * 21, 0]);
});
