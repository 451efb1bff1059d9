import { execFileSync } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { append, begin, ended, input, note, notes, started, take } from "@holdfast/testing/cases";
import { afterEach, beforeEach, expect, test } from "vitest";
import { temporaryFolder } from "../../../../test/shared/temporary-folder.fixture.ts";
import type { Journal, Lease } from "../host/journal.ts";
import { loadSqlite } from "./load-sqlite.ts";
import { nodeConnection } from "./node-connection.ts";
import { type Operation, shareCommits } from "./shared-commits.ts";
import { type SqliteJournal, type SqliteJournalOptions, sqliteJournal } from "./sqlite-journal.ts";

let folder: string;
let path: string;
const open: Journal[] = [];

beforeEach(() => {
	folder = temporaryFolder();
	path = join(folder, "journal.db");
});
afterEach(async () => {
	for (const journal of open.splice(0)) await journal.close();
});

function journalAt(options: Partial<SqliteJournalOptions> = {}): SqliteJournal {
	const journal = sqliteJournal({ path, ...options });
	open.push(journal);
	return journal;
}

const big = note("x".repeat(1_000_000));

test("the appends of a thousand sessions in one turn are one transaction", async () => {
	const journal = journalAt();
	const keys = Array.from({ length: 1_000 }, (_, index) => `s${index}`);
	await Promise.all(keys.map((key) => begin(journal, key)));
	expect(journal.transactions).toBe(1);
	await Promise.all(keys.map((key) => journal.submit(key, input("i"))));
	expect(journal.transactions).toBe(2);
});

test("a run of one tool step is four transactions, including the one for the lease", async () => {
	const journal = journalAt();
	const lease = await take(journal, "s");
	await append(lease, "r", started, note("input"));
	await append(lease, "r", note("assistant"), note("tool started"));
	await append(lease, "r", note("tool settled"));
	await append(lease, "r", note("assistant"), ended);
	await lease.release();
	expect(journal.transactions).toBe(4);
	expect(await journal.head("s")).toMatchObject({ seq: 7, waiting: 0 });
});

test("a session whose append fails does not fail other sessions' appends", async () => {
	const database = new (loadSqlite().DatabaseSync)(":memory:");
	database.exec("CREATE TABLE numbers (value INTEGER CHECK (value >= 0))");
	const insert = database.prepare("INSERT INTO numbers VALUES (?)");
	const commits = shareCommits(nodeConnection(database));
	const log: string[] = [];
	const add = (lane: string, value: number): Promise<string> =>
		new Promise((resolve) => {
			const operation: Operation = {
				lane,
				apply: () => void insert.run(value),
				undo: () => void log.push(`undo ${value}`),
				committed: () => resolve(`committed ${value}`),
				failed: (error) => resolve(`${(error as { code?: string }).code} ${value}`),
			};
			commits.add(operation);
		});
	const outcomes = await Promise.all([
		add("a", 1),
		add("b", 2),
		add("b", -3),
		add("b", 4),
		add("a", 5),
		add("c", 6),
	]);
	expect(outcomes).toEqual([
		"committed 1",
		"journal_failed 2",
		"journal_failed -3",
		"journal_failed 4",
		"committed 5",
		"committed 6",
	]);
	expect(database.prepare("SELECT value FROM numbers ORDER BY value").all()).toEqual([
		{ value: 1 },
		{ value: 5 },
		{ value: 6 },
	]);
	expect(log.slice(0, 3)).toEqual(["undo -3", "undo 2", "undo 1"]);
	database.close();
});

/** Appends megabytes until one is refused; returns how many were committed. */
async function fillUp(lease: Lease): Promise<number> {
	for (let stored = 0; ; stored++) {
		try {
			await append(lease, "run-1", big);
		} catch (error) {
			expect(error).toMatchObject({ code: "disk_full", retryable: true });
			expect(stored).toBeGreaterThan(0);
			return stored;
		}
	}
}

const megabytes = (count: number): string[] => Array(count).fill("x".repeat(1_000_000));

test("a file that may not grow fails only the append that needs space", async () => {
	const journal = journalAt({ maxFileSize: 6_000_000 });
	const [lease, other] = [await begin(journal, "s"), await begin(journal, "other")];
	const stored = await fillUp(lease);
	// Whichever operation comes first in the failing transaction, the others are committed as if alone.
	for (const turn of [1, 2]) {
		const appends = [() => append(lease, "run-1", big), () => append(other, "run-1", note(turn))];
		if (turn === 2) appends.reverse();
		const outcomes = (await Promise.allSettled(appends.map((start) => start()))).map(({ status }) => status);
		expect(outcomes).toEqual(turn === 1 ? ["rejected", "fulfilled"] : ["fulfilled", "rejected"]);
	}
	await append(lease, "run-1", note("small"));
	expect(notes(await journal.read("s"))).toEqual([...megabytes(stored), "small"]);
	expect((await journal.read("other")).map(({ seq }) => seq)).toEqual([1, 2, 3]);
	expect(notes(await journal.read("other"))).toEqual([1, 2]);
});

test("a worker whose first transaction failed for another session is still registered", async () => {
	const full = journalAt({ maxFileSize: 6_000_000 });
	const stored = await fillUp(await begin(full, "s"));
	await full.close();
	const journal = journalAt({ maxFileSize: 6_000_000 });
	const [small, large] = [await take(journal, "new"), await take(journal, "s")];
	const outcomes = await Promise.allSettled([append(small, "run-1", started), append(large, "run-1", big)]);
	expect(outcomes.map(({ status }) => status)).toEqual(["fulfilled", "rejected"]);
	expect(await journal.head("new")).toMatchObject({
		seq: 1,
		holder: { workerId: journal.workerId, alive: true },
	});
	expect((await journal.head("s"))?.seq).toBe(stored + 1);
});

const mountable = process.platform === "linux" && process.getuid?.() === 0;
test.skipIf(!mountable)(
	"a full disk keeps everything committed, and the session continues once there is space",
	async (context) => {
		const disk = join(folder, "disk");
		mkdirSync(disk);
		try {
			execFileSync("mount", ["-t", "tmpfs", "-o", "size=8m", "tmpfs", disk], { stdio: "ignore" });
		} catch {
			context.skip("this machine does not let us mount a small disk");
		}
		const journals: Journal[] = [];
		const at = (): Journal => {
			const journal = sqliteJournal({ path: join(disk, "journal.db") });
			journals.push(journal);
			return journal;
		};
		try {
			writeFileSync(join(disk, "something else"), new Uint8Array(3_000_000));
			const lease = await begin(at(), "s");
			const stored = await fillUp(lease);
			expect(notes(await at().read("s"))).toEqual(megabytes(stored));
			rmSync(join(disk, "something else"));
			await append(lease, "run-1", note("after it"));
			for (const journal of journals) await journal.close();
			expect(notes(await at().read("s"))).toEqual([...megabytes(stored), "after it"]);
		} finally {
			for (const journal of journals) await journal.close();
			execFileSync("umount", [disk]);
		}
	},
);

test("a lock of another process is waited for without blocking", async () => {
	const journal = journalAt();
	const lease = await begin(journal, "s");
	const other = new (loadSqlite().DatabaseSync)(path);
	other.exec("BEGIN IMMEDIATE");
	let settled = false;
	const appended = append(lease, "run-1", note("waits")).then(() => {
		settled = true;
	});
	const begun = performance.now();
	for (let turn = 0; turn < 20; turn++) await new Promise((next) => setTimeout(next, 1));
	expect(performance.now() - begun).toBeLessThan(5_000);
	expect(settled).toBe(false);
	expect(notes(await journal.read("s"))).toEqual([]);
	other.exec("COMMIT");
	other.close();
	await appended;
	expect(notes(await journal.read("s"))).toEqual(["waits"]);
});

test("changes after an append do not affect the appended entry", async () => {
	const journal = journalAt();
	const lease = await begin(journal, "s");
	const value = { text: "as it was" };
	const appended = append(lease, "run-1", note(value));
	value.text = "changed";
	await appended;
	expect(notes(await journal.read("s"))).toEqual([{ text: "as it was" }]);
});

test("a value that cannot be stored fails only its append, and the lease continues", async () => {
	const journal = journalAt();
	const lease = await begin(journal, "s");
	await expect(
		append(
			lease,
			"run-1",
			note(() => {}),
		),
	).rejects.toMatchObject({ code: "unserialisable_value" });
	await append(lease, "run-1", note("fine"));
	expect(notes(await journal.read("s"))).toEqual(["fine"]);
});
