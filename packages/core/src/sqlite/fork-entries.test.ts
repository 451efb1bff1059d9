// Forks and removals step by step: each transaction processes as few rows as possible, and others interfere in between.
import { join } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { append, ended, note, started, take } from "@holdfast/testing/cases";
import { afterEach, beforeEach, expect, test } from "vitest";
import { temporaryFolder } from "../../../../test/shared/temporary-folder.fixture.ts";
import type { Entry, Fact } from "../facts/fact.ts";
import { type Copy, copySome, type Fork } from "./fork-entries.ts";
import { fewRows, sweepSome } from "./hidden-sessions.ts";
import { nodeConnection } from "./node-connection.ts";
import { openDatabase } from "./open-database.ts";
import { journalFile } from "./schema.ts";
import { removeSession } from "./session-writes.ts";
import { type SqliteJournal, sqliteJournal } from "./sqlite-journal.ts";
import { prepareStatements, type Statements } from "./statements.ts";
import { registerWorker, type WorkerRegistration } from "./worker-row.ts";

let folder: string;
let path: string;
/** Another user of the file. */
let other: SqliteJournal;
let database: DatabaseSync;
let statements: Statements;
let worker: WorkerRegistration;
const clock = { now: () => 5_000 };

beforeEach(() => {
	folder = temporaryFolder();
	path = join(folder, "journal.db");
	other = sqliteJournal({ path });
	database = openDatabase({ path, durability: "process" }, journalFile);
	statements = prepareStatements(nodeConnection(database));
	const rest = { leaseTtlMs: 15_000, clock, statements, holds: () => false };
	worker = registerWorker({ path, workerId: "stepper", ...rest });
});
afterEach(async () => {
	await worker.stop();
	database.close();
	await other.close();
});

/** Runs one transaction. */
function step<T>(work: () => T): T {
	database.exec("BEGIN IMMEDIATE");
	try {
		const result = work();
		database.exec("COMMIT");
		worker.committed();
		return result;
	} catch (error) {
		database.exec("ROLLBACK");
		throw error;
	}
}

const spent = () => true;
const copyOn = (fork: Fork, copy?: Copy) =>
	step(() => copySome({ statements, worker, now: 5_000, spent }, fork, copy));
const removeOn = (key: string) => step(() => removeSession(statements, key, undefined, spent));
const sweepOn = () => step(() => sweepSome(statements, worker, spent));

/** Copies to the end, and runs a callback before each step but the first. */
async function copyAll(
	fork: Fork,
	between: (copy: Copy) => unknown = () => {},
): Promise<"whole" | "changed"> {
	let copy = copyOn(fork);
	while (typeof copy === "object") {
		await between(copy);
		copy = copyOn(fork, copy);
	}
	return copy;
}

/** Appends runs with these numbers of entries. */
async function runs(key: string, ...lengths: readonly number[]): Promise<void> {
	const lease = await take(other, key);
	for (const length of lengths) {
		const from = `${lease.seq}.${Math.random()}`;
		const middle = Array.from({ length: length - 2 }, (_, at): Fact => note(`${from}.${at}`));
		await append(lease, `run ${from}`, started, ...middle, ended);
	}
	await lease.release();
}

async function fold(key: string, seq: number): Promise<void> {
	const lease = await take(other, key);
	const { at, runId } = (await other.read(key, { after: seq - 1, limit: 1 }))[0] as Entry;
	const facts: Fact[] = [{ kind: "folded", state: "what it came to" } as unknown as Fact];
	await lease.append({ at, runId, facts, replaces: seq });
	await lease.release();
}

const rows = (): number =>
	(database.prepare("SELECT count(*) AS count FROM entries WHERE session > 0").get() as { count: number })
		.count;
const keys = async (): Promise<string[]> => (await other.list()).map(({ key }) => key);
const until = 4 * fewRows;

test("a copy in many steps equals its source, with runs that steps cut, for any writes between", async () => {
	await runs("s", 3, 10, fewRows, 2 * fewRows + 20, 31, 2);
	const source = await other.read("s");
	const { seq = 0 } = (await other.head("s")) ?? {};
	let steps = 0;
	const outcome = await copyAll({ from: "s", to: "f", until: seq }, async () => {
		steps++;
		await runs("s", 5);
		await runs("between", 4);
		expect(await keys()).toEqual(["between", "s"]);
		expect(await other.head("f")).toBeUndefined();
		await expect(other.fork("f", "g", 3)).rejects.toMatchObject({ code: "fork_unsettled" });
	});
	expect([outcome, steps]).toEqual(["whole", Math.ceil(seq / fewRows) - 1]);
	expect(await other.read("f")).toEqual(source);
	expect(await other.read("f", { after: 100, limit: 60 })).toEqual(source.slice(100, 160));
	await runs("f", 3);
	await other.delete("s");
	expect((await other.read("f")).slice(0, seq)).toEqual(source);
	expect(await other.runs.locate(source[0]?.runId ?? "")).toMatchObject({ place: "f", first: 1 });
});

test("while it is copied, a run is found in its source, and nowhere once the source is deleted", async () => {
	await runs("s", until);
	const [{ runId }] = (await other.read("s", { limit: 1 })) as [Entry];
	const copy = copyOn({ from: "s", to: "f", until }) as Copy;
	expect(await other.runs.locate(runId)).toEqual({ place: "s", first: 1, ended: until });
	await other.delete("s");
	expect(await other.runs.locate(runId)).toBeUndefined();
	expect(copyOn({ from: "s", to: "f", until }, copy)).toBe("changed");
});

test("a copy whose source is deleted is aborted, even if a new session has that key", async () => {
	await runs("s", until);
	const fork = { from: "s", to: "f", until };
	const copy = copyOn(fork) as Copy;
	await other.delete("s");
	expect(copyOn(fork, copy)).toBe("changed");
	await runs("s", until);
	expect(copyOn(fork, copy)).toBe("changed");
	expect(await copyAll(fork)).toBe("whole");
	expect(await other.read("f")).toEqual(await other.read("s"));
});

test("a copy is complete if the copied part of its source is compacted, and is aborted if more is", async () => {
	await runs("s", fewRows - 4, 3, fewRows, fewRows, fewRows + 1);
	const fork = { from: "s", to: "f", until };
	let copy = copyOn(fork) as Copy;
	await fold("s", fewRows - 1);
	copy = copyOn(fork, copy) as Copy;
	expect(copy.copied).toBe(2 * fewRows);
	await fold("s", 3 * fewRows - 1);
	expect(copyOn(fork, copy)).toBe("changed");
	expect(await copyAll({ ...fork, to: "g" })).toBe("whole");
	expect((await other.read("g")).map(({ seq }) => seq)).toEqual(
		Array.from({ length: fewRows + 2 }, (_, at) => 3 * fewRows - 1 + at),
	);
	expect(await other.read("g")).toEqual(await other.read("s"));
	await runs("t", fewRows - 4, 3, fewRows, fewRows, fewRows + 1);
	const whole = await other.read("t");
	let folded = false;
	const outcome = await copyAll({ from: "t", to: "h", until }, async () => {
		if (!folded) await fold("t", fewRows - 1);
		folded = true;
	});
	expect([outcome, await other.read("h")]).toEqual(["whole", whole]);
});

test("a fork whose key is taken in the meantime is rejected", async () => {
	await runs("s", until);
	const fork = { from: "s", to: "f", until };
	const copy = copyOn(fork) as Copy;
	await runs("f", 3);
	expect(() => copyOn(fork, copy)).toThrow(expect.objectContaining({ code: "session_exists" }));
	expect(await other.read("f")).toHaveLength(3);
});

test("a fork never starts below the epoch of a deleted session of its key", async () => {
	await runs("s", until);
	await runs("f", 2, 2);
	await other.delete("f");
	let { epoch } = await take(other, "f");
	await copyAll({ from: "s", to: "f", until }, async () => {
		for (let each = 0; each < 3; each++) await runs("f", 2);
		epoch = (await other.head("f"))?.epoch ?? 0;
		await other.delete("f");
	});
	expect((await other.head("f"))?.epoch).toBeGreaterThan(epoch);
});

test("copies of a dead worker are removed, and a worker that was wrongly considered dead finds them removed", async () => {
	await runs("s", until);
	const fork = { from: "s", to: "f", until };
	const copy = copyOn(fork) as Copy;
	expect(sweepOn()).toBe(false);
	await other.sweep();
	expect(rows()).toBe(until + fewRows);
	database.exec("UPDATE workers SET pid = 999999999 WHERE name = 'stepper'");
	await other.sweep();
	expect(rows()).toBe(until);
	expect(copyOn(fork, copy)).toBe("changed");
	// Its own row is deleted last, because its number may be another worker's by then.
	const second = copyOn(fork, copyOn(fork) as Copy) as Copy;
	database.exec("UPDATE workers SET pid = 999999999 WHERE name = 'stepper'");
	const rest = { leaseTtlMs: 15_000, clock, statements, holds: () => false };
	const sweeper = registerWorker({ path, workerId: "sweeper", ...rest });
	expect(step(() => sweepSome(statements, sweeper, spent))).toBe(true);
	expect(rows()).toBe(until + fewRows);
	expect(copyOn(fork, second)).toBe("changed");
	expect(await copyAll(fork)).toBe("whole");
});

test("a removal in many steps takes effect for all readers with the first", async () => {
	await runs("s", until);
	await other.submit("s", { id: "i", kind: "message", runId: "waits", dedupeKey: "d", body: "hm" });
	await other.values.values("s", "notes").set("n", 1);
	const lease = await take(other, "s");
	await append(lease, "open", started);
	const { epoch } = lease;
	expect(removeOn("s")).toMatchObject({ rows: "some" });
	expect([await keys(), await other.head("s"), await other.read("s")]).toEqual([[], undefined, []]);
	expect(await other.list({ state: "orphaned" })).toEqual([]);
	expect([await other.runs.unfinishedRuns(), await other.runs.locate("waits")]).toEqual([[], undefined]);
	expect(await other.runs.locate("open")).toBeUndefined();
	await expect(append(lease, "open", note("late"))).rejects.toMatchObject({ code: "lease_lost" });
	await runs("s", 4);
	expect((await other.head("s"))?.epoch).toBeGreaterThan(epoch);
	expect(await other.values.values("s", "notes").list()).toEqual([]);
	let steps = 0;
	while (sweepOn()) steps++;
	expect(database.prepare("SELECT * FROM session_values").all()).toEqual([]);
	expect([steps, rows(), await keys()]).toEqual([Math.ceil((until + 1) / fewRows) - 1, 4, ["s"]]);
});

test("a key that starts with a quotation mark works like any other", async () => {
	await runs('"sweep me', 3);
	await runs('"', 3);
	await other.sweep();
	expect(await keys()).toEqual(['"', '"sweep me']);
});
