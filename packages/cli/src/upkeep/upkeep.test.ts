import { type ChildProcess, fork } from "node:child_process";
import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout } from "node:timers/promises";
import { isHoldfastError } from "holdfast";
import type { RunRecord } from "holdfast/execution-host";
import type { Fact } from "holdfast/host";
import { openJournalFile, type SqliteHost, sqliteHost } from "holdfast/sqlite";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { temporaryFolder } from "../../../../test/shared/temporary-folder.fixture.ts";
import { run, start } from "../command/spawn.fixture.ts";
import { checkFile } from "./check-file.fixture.ts";
import { type CheckReport, type PruneStep, pruneJournal, vacuumJournal } from "./index.ts";
import { addRun, childKey, day, factsOfRun, take } from "./old-sessions.fixture.ts";
import { type Family, readFamilies } from "./prune-plan.ts";
import { beginRemoval, finishRemovals } from "./remove-session.ts";

// Many tests start real processes, which takes its time on a busy machine.
let folder: string;
let path: string;
let opened: SqliteHost[];
let children: ChildProcess[];
const now = Date.now();

beforeEach(() => {
	folder = temporaryFolder();
	path = join(folder, "j.db");
	opened = [];
	children = [];
});
afterEach(async () => {
	for (const child of children) child.kill("SIGKILL");
	for (const host of opened) await host.close();
});

function open(file = path): SqliteHost {
	const host = sqliteHost(file);
	opened.push(host);
	return host;
}

/** Writes with a host that is closed afterwards. */
async function writing(work: (host: SqliteHost) => Promise<unknown>): Promise<void> {
	const host = sqliteHost(path);
	await work(host);
	await host.close();
}

const db = (...words: string[]) => run(["db", ...words, "--db", path], { folder });

const checked = (file = path): CheckReport => checkFile(file);

function changed(...statements: string[]): void {
	const database = new DatabaseSync(path);
	for (const statement of statements) database.exec(statement);
	database.close();
}

async function prune(options: Partial<Parameters<typeof pruneJournal>[0]>): Promise<PruneStep[]> {
	const steps: PruneStep[] = [];
	const rest = {
		removeBefore: undefined,
		foldBefore: undefined,
		keep: 0,
		mode: "do",
		stopped: () => false,
	} as const;
	await pruneJournal({ path, ...rest, ...options, onStep: (step) => steps.push(step) });
	return steps;
}

const keysOf = async (host: SqliteHost): Promise<string[]> =>
	(await host.journal.list()).map(({ key }) => key);

/** Everything that the files of the journal hold. */
const bytes = (): string =>
	readdirSync(folder)
		.filter((name) => name.startsWith("j.db"))
		.map((name) => readFileSync(join(folder, name), "latin1"))
		.join("");

describe("check", () => {
	const sessions = async (): Promise<void> => {
		await writing(async (host) => {
			const { journal, values, execution } = host as Required<SqliteHost>;
			for (const [index, key] of ["a", "b", childKey("a", "1")].entries())
				await addRun(journal, key, {
					at: now - index,
					runId: `run-${index}`,
					secret: index === 0 ? "sent" : "",
				});
			await journal.submit("b", { id: "i", kind: "notice", dedupeKey: "d", body: { text: "hm" } });
			await values.values("b", "notes").set("n", { text: "note" });
			await execution.store.runs.create({
				runId: "own",
				kind: "notification",
				status: "queued",
				sessionKey: "b",
			});
		});
	};

	test("counts the contents of a closed file and of an open one", async () => {
		await sessions();
		const expected = {
			sessions: 3,
			entries: 21,
			runs: 3,
			openRuns: 0,
			inputs: 1,
			dedupe: 1,
			values: 1,
			chunks: 1,
		};
		const report = checked();
		expect(report.problems).toEqual([]);
		expect(report.counts).toMatchObject({ ...expected, folded: 0, workers: 0 });
		expect(report.counts.records).toBeGreaterThan(0);
		const lease = await take(open().journal, "open");
		await lease.append({ at: now, runId: "r", facts: factsOfRun("q", "").slice(0, 2) });
		expect(checked()).toMatchObject({ problems: [], counts: { sessions: 4, openRuns: 1, workers: 1 } });
		const { code, stdout } = await db("check", "--json");
		expect([code, JSON.parse(stdout)]).toMatchObject([0, { type: "check", ok: true, problems: [] }]);
	});

	test.each([
		["UPDATE entries SET body = '{' WHERE seq = 3 AND session = 1", "entry 3 cannot be read (assistant)"],
		["DELETE FROM entries WHERE seq IN (3, 4) AND session = 1", "2 entries are missing before entry 5"],
		["DELETE FROM entries WHERE seq = 1 AND session = 1", "1 entry is missing before entry 2"],
		["DELETE FROM entries WHERE seq = 7 AND session = 1", "according to its entries, run run-0 is"],
		["UPDATE sessions SET open_run = 'x' WHERE id = 1", "according to its row, run x is open"],
		[
			"UPDATE sessions SET look_at = 5 WHERE id = 1",
			"according to its row, its run waits until 5, but according to its entries, no",
		],
		["UPDATE sessions SET incarnation = 'twin' WHERE id IN (1, 2)", "another session has its incarnation"],
		["UPDATE entries SET kind = 'run.ended' WHERE seq = 6 AND session = 1", "ends a second time at entry 7"],
		["UPDATE entries SET kind = 'run.started' WHERE seq = 4 AND session = 1", "while another is open"],
		["UPDATE entries SET kind = 'folded' WHERE seq = 4 AND session = 1", "others precede it"],
		[
			"UPDATE entries SET version = 9 WHERE seq = 3 AND session = 1",
			"was written by a newer release (assistant 9)",
		],
		["UPDATE entries SET run = 999 WHERE seq = 5 AND session = 1", "entry 5 names no run"],
		[
			"UPDATE entries SET session = 77 WHERE session = 1",
			"7 rows of entries belong to sessions that do not exist",
		],
		["UPDATE dedupe SET session = 77", "1 rows of dedupe belong to sessions"],
		["UPDATE dedupe SET position = 77", "1 dedupe keys name inputs that were never received"],
		["UPDATE session_values SET session = 77", "1 rows of session_values belong to sessions"],
		["UPDATE session_values SET value = '{'", "the value n of notes is damaged"],
		["UPDATE inputs SET session = 77", "waits for a session that does not exist"],
		["UPDATE inputs SET body = '{'", "the body of input 1 is damaged"],
		["UPDATE inputs SET kind = 'odd'", "is of the unknown kind odd"],
		["UPDATE sessions SET inputs = 0", "input 1 is not counted"],
		["UPDATE records SET body = '{' WHERE shelf = 'runs'", "the record own of runs is damaged"],
		["UPDATE chunks SET session = 77", "1 rows of chunks belong to sessions that do not exist"],
		["UPDATE chunks SET seq = 77", "chunk 1 after entry 77, and the last entry is 7"],
		["UPDATE chunks SET body = '{'", "chunk 1 after entry 5 is damaged"],
		["DELETE FROM records WHERE shelf = 'runs'", "1 runs are listed as unfinished and have no record"],
	])("detects damage to a file: %s", async (statement, expected) => {
		await sessions();
		changed(statement);
		const { problems } = checked();
		expect(problems.map(({ what }) => what).join("\n")).toContain(expected);
	});

	test("reports its findings, and exits with 1", async () => {
		await sessions();
		changed("DELETE FROM entries WHERE seq IN (3, 4) AND session = 1");
		const { code, stdout, stderr } = await db("check");
		expect([code, stderr]).toEqual([1, ""]);
		expect(stdout).toMatch(/1 problem was found .*:\nsession a: 2 entries are missing before entry 5\n/);
		const [line = ""] = (await db("check", "--json")).stdout.split("\n");
		const problems = [{ what: "2 entries are missing before entry 5", session: "a" }];
		expect(JSON.parse(line)).toMatchObject({ ok: false, problems, unlisted: 0 });
	});

	test("reports damage wherever bytes were changed, and never fails itself", async () => {
		await writing(async ({ journal }) => {
			for (let each = 0; each < 40; each++)
				await addRun(journal, `s${each % 8}`, { at: now, runId: `r${each}`, secret: "x".repeat(400) });
		});
		const whole = readFileSync(path);
		const found = { whole: 0, damaged: 0, refused: new Set<string>() };
		let seed = 7;
		const next = (): number => (seed = (seed * 48_271) % 2_147_483_647);
		for (let each = 0; each < 80; each++) {
			const damaged = Buffer.from(whole);
			const at = each < 30 ? each * 4 : next() % whole.length;
			for (let index = 0; index < 8 && at + index < damaged.length; index++)
				damaged[at + index] = next() % 256;
			const copy = join(folder, `damaged-${each}.db`);
			writeFileSync(copy, damaged);
			try {
				found[checked(copy).problems.length > 0 ? "damaged" : "whole"]++;
			} catch (error) {
				if (!isHoldfastError(error)) throw error;
				found.refused.add(error.code);
			}
			rmSync(copy);
		}
		expect([...found.refused].filter((code) => !code.startsWith("journal_"))).toEqual([]);
		expect(found.damaged).toBeGreaterThan(25);
		const broken = Buffer.from(whole);
		broken.fill(255, 4096 * 3, 4096 * 6);
		writeFileSync(path, broken);
		const { code, stdout, stderr } = await db("check");
		expect([code, stderr]).toEqual([1, ""]);
		expect(stdout).toMatch(/problems were found[\s\S]*cannot be read/);
	});

	test("detects each bit flipped in a body, even if the rest can be read", async () => {
		await writing(async ({ journal, values, timers, files }) => {
			for (let each = 0; each < 10; each++)
				await addRun(journal, `s${each}`, { at: now, runId: `r${each}`, secret: "body ".repeat(60) });
			await journal.submit("s1", { id: "i", kind: "notice", body: { text: "body ".repeat(60) } });
			await values?.values("s1", "notes").set("n", { text: "body ".repeat(60) });
			await timers?.set({ key: "s1", name: "t", wakeAt: now, body: { text: "body ".repeat(60) } });
			await files?.of("s1", "box").write("f", [Buffer.from("body ".repeat(60))]);
		});
		expect(checked().problems).toEqual([]);
		/** Returns everything that rows contain: pages also have stale copies of rows. */
		const rows = (): string => {
			const database = new DatabaseSync(path);
			const all = ["entries", "chunks", "inputs", "session_values", "timers", "file_pieces"].map((table) =>
				database.prepare(`SELECT * FROM ${table}`).all(),
			);
			database.close();
			return JSON.stringify(all);
		};
		const [whole, before] = [readFileSync(path), rows()];
		let found = 0;
		for (let at = whole.indexOf("body body"); at >= 0; at = whole.indexOf("body body", at + 300)) {
			const damaged = Buffer.from(whole);
			damaged[at] = (damaged[at] ?? 0) ^ (1 << (at % 3));
			writeFileSync(path, damaged);
			if (rows() === before) continue;
			const { problems } = checked();
			expect(problems.map(({ what }) => what).join()).toContain("does not have its checksum");
			found++;
		}
		expect(found).toBeGreaterThan(13);
	});

	test("accepts changes of a release without checksums", async () => {
		await sessions();
		changed(
			`UPDATE session_values SET value = '{"text":"other"}'`,
			"UPDATE records SET body = replace(body, 'queued', 'failed'), revision = revision + 1",
			"INSERT INTO chunks (session, seq, sub, body) SELECT session, seq, sub + 1, body FROM chunks",
		);
		expect(checked().problems).toEqual([]);
	});

	test.each([0, -1])("fails for a file that claims version %i", async (version) => {
		await sessions();
		changed(`PRAGMA user_version = ${version}`);
		const { code, stderr } = await db("check");
		expect([code, stderr]).toEqual([
			1,
			expect.stringContaining(`has version ${version}, but versions start at 1`),
		]);
		expect(() => open()).toThrow(expect.objectContaining({ code: "journal_corrupt" }));
	});

	test("rejects a file of a newer release or of another program, and does not change it", async () => {
		await sessions();
		const { version } = checked();
		changed("PRAGMA user_version = 99");
		const before = readFileSync(path);
		for (const words of [["check"], ["backup", "copy.db"], ["prune", "--older-than", "1m"], ["vacuum"]]) {
			const { code, stderr } = await db(...words);
			expect(code).toBe(1);
			expect(stderr).toContain("A newer release wrote it");
		}
		expect(readFileSync(path).equals(before)).toBe(true);
		changed("DROP TABLE records", "DROP TABLE chunks", "PRAGMA user_version = 2");
		expect((await db("prune", "--older-than", "1d", "--dry-run")).code).toBe(0);
		const older = await db("check");
		expect([older.code, older.stdout]).toEqual([
			0,
			expect.stringMatching(/version 2 \(brought up to \d+ when/),
		]);
		changed(`PRAGMA user_version = ${version}`);
		expect((await db("check")).stdout).toContain("table records is missing");
		changed("PRAGMA application_id = 5");
		expect((await db("check")).stderr).toContain("journal_foreign");
		expect(readdirSync(folder).filter((name) => name.includes("copy"))).toEqual([]);
		writeFileSync(join(folder, "empty.db"), "");
		for (const task of ["check", "vacuum"])
			expect((await run(["db", task, "--db", "empty.db"], { folder })).stderr).toContain("it is empty");
		expect(statSync(join(folder, "empty.db")).size).toBe(0);
		const { code, stderr } = await run(["db", "check", "--db", "nothing.db"], { folder });
		expect([code, stderr]).toEqual([2, expect.stringContaining("does not exist. Give its path")]);
	});
});

describe("backup", () => {
	test("creates an independent copy: open runs continue in the original, and have no owner in the copy", async () => {
		const host = open();
		await addRun(host.journal, "done", { at: now, runId: "r0" });
		const lease = await take(host.journal, "open");
		await lease.append({ at: now, runId: "r1", facts: factsOfRun("q", "").slice(0, 2) });
		const mine = {
			id: "i",
			kind: "message",
			runId: "r2",
			workerId: host.journal.workerId,
			body: {},
		} as const;
		await host.journal.submit("mine", mine);
		const copy = join(folder, "copies/copy.db");
		const { code, stdout } = await db("backup", copy);
		expect([code, stdout]).toEqual([
			0,
			expect.stringContaining("3 sessions with 9 entries of 2 runs, 1 of them open"),
		]);
		expect(readdirSync(join(folder, "copies"))).toEqual(["copy.db"]);
		expect(statSync(copy).mode & 0o777).toBe(0o600);
		await lease.append({ at: now, runId: "r1", facts: factsOfRun("q", "").slice(2, 3) });
		expect((await open().journal.acquire("open")).ok).toBe(false);
		const other = open(copy);
		expect(checked(copy)).toMatchObject({ problems: [], counts: { workers: 0 } });
		const orphaned = await other.journal.list({ state: "orphaned" });
		expect(orphaned.map(({ key, seq, holder }) => [key, seq, holder])).toEqual([
			["mine", 0, undefined],
			["open", 2, undefined],
		]);
		const taken = await take(other.journal, "open");
		expect(taken.openRunId).toBe("r1");
		await taken.append({ at: now, runId: "r1", facts: factsOfRun("q", "").slice(6) });
	});

	test("replaces no file unless requested, and never that of an open database", async () => {
		await writing(({ journal }) => addRun(journal, "s", { at: now, runId: "r" }));
		const copy = join(folder, "copy.db");
		writeFileSync(copy, "precious");
		expect(await db("backup", copy)).toMatchObject({ code: 1, stderr: expect.stringContaining("--force") });
		expect(readFileSync(copy, "utf8")).toBe("precious");
		expect((await db("backup", copy, "--force")).code).toBe(0);
		expect(checked(copy)).toMatchObject({ problems: [], counts: { entries: 7 } });
		for (const suffix of ["-wal", "-shm"]) rmSync(copy + suffix, { force: true });
		const used = open(copy);
		await addRun(used.journal, "s", { at: now, runId: "r2" });
		expect((await db("backup", copy, "--force")).stderr).toContain("is open, or was not closed");
		expect((await used.journal.head("s"))?.seq).toBe(14);
		expect((await db("backup", path, "--force")).stderr).toContain("would replace the journal itself");
		expect((await db("backup", folder)).stderr).toContain("is a folder");
	});

	test("keeps no copy of a damaged journal", async () => {
		await writing(({ journal }) => addRun(journal, "s", { at: now, runId: "r" }));
		changed("DELETE FROM entries WHERE seq = 3");
		const { code, stderr } = await db("backup", join(folder, "copy.db"));
		expect([code, stderr]).toEqual([1, expect.stringContaining("1 entry is missing before entry 4")]);
		expect(readdirSync(folder).filter((name) => name.includes("copy"))).toEqual([]);
	});
});

describe("prune", () => {
	test("removes expired sessions, with those of their sub-agents and all their data", async () => {
		const host = open();
		const { journal, values, execution } = host as Required<SqliteHost>;
		const old = now - 40 * day;
		for (const key of [
			"old",
			childKey("old", "1"),
			childKey(childKey("old", "1"), "2"),
			"parent",
			"open",
			"a\\b",
		])
			await addRun(journal, key, { at: old, runId: `run of ${key.length} ${key.slice(0, 4)}` });
		await addRun(journal, childKey("parent", "1"), { at: now - 2 * day, runId: "young child" });
		const lease = await take(journal, childKey("open", "1"));
		await lease.append({ at: old, runId: "open child", facts: factsOfRun("q", "").slice(0, 1) });
		await addRun(journal, "young", { at: now - day, runId: "young" });
		await addRun(journal, "notified", { at: old, runId: "notified" });
		await addRun(journal, "noted", { at: old, runId: "noted" });
		const noted = { kind: "notification", status: "queued", sessionKey: "notified" } as const;
		await execution.store.runs.create({ ...noted, runId: "not begun" });
		await execution.store.runs.create({ ...noted, runId: "noted", sessionKey: "noted", dedupeKey: "once" });
		await values.values("waits", "notes").set("n", 1);
		await journal.submit("waits", { id: "i", kind: "notice", body: {} });
		changed(`UPDATE sessions SET updated_at = ${old} WHERE key IN ('notified', 'noted', 'waits')`);
		const planned = await prune({ removeBefore: now - 30 * day, mode: "plan" });
		expect(planned.map(({ what, session, sessions, entries }) => [what, session, sessions, entries])).toEqual(
			expect.arrayContaining([
				["removed", "old", 3, 21],
				["removed", "a\\b", 1, 7],
				["removed", "noted", 1, 7],
			]),
		);
		expect(planned).toHaveLength(3);
		expect(checked().counts.entries).toBe(71);
		expect(await prune({ removeBefore: now - 30 * day })).toEqual(planned);
		const left = [
			"parent",
			childKey("parent", "1"),
			"open",
			childKey("open", "1"),
			"young",
			"notified",
			"waits",
		];
		expect((await keysOf(host)).sort()).toEqual(left.sort());
		expect(checked()).toMatchObject({ problems: [], counts: { hidden: 0, entries: 36 } });
		expect(await execution.store.runs.get("noted")).toBeNull();
		expect(await execution.store.runs.get("not begun")).not.toBeNull();
		await lease.append({ at: now, runId: "open child", facts: factsOfRun("q", "").slice(6) });
		// A new session with that key starts above the previous one's epoch.
		const again = await take(journal, "old");
		expect([again.seq, again.epoch > 1]).toEqual([0, true]);
	});

	test("removes the notifications of a session with it", async () => {
		const { journal, execution } = open() as Required<SqliteHost>;
		await addRun(journal, "old", { at: now - 40 * day, runId: "run" });
		const { incarnation = "" } = (await journal.head("old")) ?? {};
		const { notifications, runs } = execution.store;
		const ids = { notificationId: "k", idempotencyKey: "k", runId: "deliver k" };
		await notifications.enqueue({ ...ids, sessionKey: "old", incarnation, input: "sent" });
		await notifications.acknowledge("k");
		await runs.update({ ...((await runs.get("deliver k")) as RunRecord), status: "completed" });
		expect(checked().counts.records).toBeGreaterThan(0);
		expect((await prune({ removeBefore: now - 30 * day })).map(({ session }) => session)).toEqual(["old"]);
		expect(checked()).toMatchObject({ problems: [], counts: { records: 0 } });
	});

	test("keeps the given number of newest sessions, and fences the owners of removed ones", async () => {
		const host = open();
		for (const [index, key] of ["a", "b", "c"].entries())
			await addRun(host.journal, key, { at: now - (40 - index) * day, runId: key });
		const held = await take(host.journal, "a");
		expect((await prune({ removeBefore: now, keep: 2 })).map(({ session }) => session)).toEqual(["a"]);
		expect(await keysOf(host)).toEqual(["b", "c"]);
		await expect(
			held.append({ at: now, runId: "late", facts: factsOfRun("q", "").slice(0, 1) }),
		).rejects.toMatchObject({ code: "lease_lost" });
		expect(checked().problems).toEqual([]);
	});

	test("skips a session that was used since it was selected", async () => {
		const host = open();
		for (const [index, key] of ["a", "b", "c"].entries())
			await addRun(host.journal, key, { at: now - (40 + index) * day, runId: key });
		const steps: PruneStep[] = [];
		await pruneJournal({
			path,
			removeBefore: now - 30 * day,
			foldBefore: undefined,
			keep: 0,
			mode: "do",
			stopped: () => steps.length === 3,
			onStep(step) {
				steps.push(step);
				if (step.session === "a") changed(`UPDATE sessions SET updated_at = ${now} WHERE key = 'b'`);
			},
		});
		expect(steps.map(({ what, session }) => [what, session])).toEqual([
			["removed", "a"],
			["in-use", "b"],
			["removed", "c"],
		]);
		// It was stopped before the last session's rows were removed: the rest is unreachable.
		expect(checked()).toMatchObject({ problems: [], counts: { sessions: 1, hidden: 1 } });
		expect(
			(await run(["sessions", "--db", path, "--json"], { folder })).stdout.trim().split("\n"),
		).toHaveLength(1);
		expect(await host.journal.head("c")).toBeUndefined();
		expect(await prune({ foldBefore: 0 })).toEqual([]);
		expect(checked()).toMatchObject({ problems: [], counts: { sessions: 1, hidden: 0, entries: 7 } });
	});

	test("removes leftovers of a killed fork, and skips an active one", async () => {
		await writing(async ({ journal }) => addRun(journal, "s", { at: now, runId: "r", secret: "chunk" }));
		changed(
			`INSERT INTO sessions (key, epoch, owner, inputs, created_at, updated_at)
				SELECT '"sweep 1', 0, 123456, 0, 1, 1`,
			`INSERT INTO entries (session, seq, run_id, kind, version, at, body)
				SELECT 2, e.seq, 'r', e.kind, e.version, e.at, e.body FROM entries e WHERE e.seq < 6`,
			"INSERT INTO chunks (session, seq, sub, body) SELECT 2, 9, sub, body FROM chunks",
		);
		expect(checked()).toMatchObject({ problems: [], counts: { sessions: 1, hidden: 1, entries: 7 } });
		expect((await db("check")).stdout).toMatch("unreachable: 1 session, partly copied or removed");
		expect((await db("backup", join(folder, "copy.db"))).code).toBe(0);
		expect(await prune({ removeBefore: now + day, mode: "plan" })).toMatchObject([{ session: "s" }]);
		expect(await prune({ removeBefore: 0 })).toEqual([]);
		expect(checked()).toMatchObject({ problems: [], counts: { sessions: 1, hidden: 0, entries: 7 } });
		// Its owner is alive: this process, according to its row.
		const host = open();
		const lease = await take(host.journal, "t");
		await lease.append({ at: now, runId: "open", facts: factsOfRun("q", "").slice(0, 1) });
		changed(`INSERT INTO sessions (key, epoch, owner, inputs, created_at, updated_at)
			SELECT '"sweep 2', 0, id, 0, 1, 1 FROM workers`);
		expect((await db("prune", "--older-than", "30d")).code).toBe(0);
		expect(checked()).toMatchObject({ problems: [], counts: { sessions: 2, hidden: 1 } });
	});

	test("removes leftovers of a killed compaction; until then they are unreachable, and they are removed with their session", async () => {
		await writing(async ({ journal }) => {
			for (const runId of ["a", "b"])
				await addRun(journal, "s", { at: now - 50 * day, runId, secret: "chunk" });
			const lease = await take(journal, "s");
			const fact = { kind: "folded", state: {} } as unknown as Fact;
			await lease.append({ at: now, runId: "a", facts: [fact], replaces: 7 });
		});
		const half = (): void =>
			changed(
				"INSERT INTO meta (name, value) VALUES ('folded 1', 7)",
				`INSERT INTO entries (session, seq, kind, version, at, body)
					SELECT 1, seq - 4, 'note', 1, 1, '{}' FROM entries WHERE seq IN (7, 8)`,
				"INSERT INTO chunks (session, seq, sub, body) VALUES (1, 4, 1, '{}')",
			);
		half();
		expect(checked()).toMatchObject({ problems: [], counts: { sessions: 1, entries: 8, folded: 1 } });
		expect(await prune({ removeBefore: 0 })).toEqual([]);
		const left = (): unknown => {
			const database = new DatabaseSync(path);
			const found = database
				.prepare(
					`SELECT (SELECT count(*) FROM entries WHERE session > 0) AS entries, (SELECT count(*) FROM chunks) AS chunks,
						(SELECT count(*) FROM meta WHERE name LIKE 'folded %') AS folds`,
				)
				.get();
			database.close();
			return { ...found };
		};
		expect(left()).toEqual({ entries: 8, chunks: 1, folds: 0 });
		half();
		const file = openJournalFile(path, "write");
		const [family] = readFamilies(file);
		expect(beginRemoval(file, family as Family)).toBe(true);
		expect(await finishRemovals(file, () => false)).toBe(1);
		file.database.close();
		expect(left()).toEqual({ entries: 0, chunks: 0, folds: 0 });
	});

	test("removes all leftovers of a fork, however large, and all data of many compacted runs", async () => {
		const host = open();
		const lease = await take(host.journal, "s");
		for (let each = 0; each < 520; each++)
			await lease.append({ at: now - 50 * day, runId: `r${each}`, facts: factsOfRun("q", "") });
		await lease.release();
		changed(
			"INSERT INTO records (shelf, name, revision, body) SELECT 'runs', run_id, 1, '{}' FROM entries WHERE run_id IS NOT NULL",
			`INSERT INTO sessions (id, key, epoch, owner, inputs, created_at, updated_at)
				VALUES (99, '"sweep 1', 0, NULL, 0, 1, 1)`,
			`WITH RECURSIVE places (seq) AS (SELECT 1 UNION ALL SELECT seq + 1 FROM places WHERE seq < 60000)
				INSERT INTO entries (session, seq, kind, version, at, body) SELECT 99, seq, 'note', 1, 1, '{}' FROM places`,
		);
		expect(checked().counts).toMatchObject({ hidden: 1, records: 520 });
		expect(await prune({})).toEqual([]);
		expect(checked()).toMatchObject({ problems: [], counts: { hidden: 0, records: 520 } });
		expect(await prune({ foldBefore: now - 30 * day })).toMatchObject([{ what: "folded", entries: 3_640 }]);
		expect(checked()).toMatchObject({ problems: [], counts: { hidden: 0, records: 0, entries: 1 } });
	});

	test("keeps a host's records of a run as long as a fork has it", async () => {
		const host = open();
		const { journal } = host;
		await addRun(journal, "s", { at: now - 50 * day, runId: "r" });
		await addRun(journal, "s", { at: now, runId: "young" });
		changed("INSERT INTO records (shelf, name, revision, body) VALUES ('runs', 'r', 1, '{}')");
		await journal.fork("s", "first", 7);
		await journal.fork("s", "second", 7);
		const pruned = async (options: Parameters<typeof prune>[0]): Promise<boolean> => {
			await prune(options);
			const database = new DatabaseSync(path, { readOnly: true });
			const record = database.prepare("SELECT 1 FROM records WHERE shelf = 'runs' AND name = 'r'").get();
			database.close();
			return record === undefined;
		};
		changed(`UPDATE sessions SET updated_at = ${now - 50 * day} WHERE key = 'first'`);
		expect(await pruned({ removeBefore: now - 30 * day })).toBe(false);
		expect(await keysOf(host)).toEqual(["s", "second"]);
		changed(`UPDATE sessions SET updated_at = ${now} WHERE key = 'second'`);
		expect(await pruned({ removeBefore: now - 30 * day, foldBefore: now - 30 * day })).toBe(true);
	});

	test("compacts old runs of remaining sessions, and keeps unsettled work", async () => {
		const host = open();
		for (const at of [60, 50, 2])
			await addRun(host.journal, "s", { at: now - at * day, runId: `r${at}`, asks: `asked ${at}` });
		await addRun(host.journal, childKey("s", "1"), { at: now - 60 * day, runId: "child" });
		const lease = await take(host.journal, "open");
		for (const fact of factsOfRun("q", ""))
			await lease.append({ at: now - 60 * day, runId: "r", facts: [fact] });
		await lease.append({ at: now - 60 * day, runId: "r'", facts: factsOfRun("q", "").slice(0, 1) });
		const expected = [{ what: "folded", session: "s", sessions: 1, entries: 14, changedAt: now - 2 * day }];
		expect(await prune({ foldBefore: now - 30 * day, mode: "plan" })).toEqual(expected);
		expect(await prune({ foldBefore: now - 30 * day })).toEqual(expected);
		expect(await prune({ foldBefore: now - 30 * day })).toEqual([]);
		expect((await host.journal.read("s")).map(({ seq, fact }) => [seq, fact.kind])).toEqual([
			[14, "folded"],
			...factsOfRun("", "").map(({ kind }, index) => [15 + index, kind]),
		]);
		expect(checked()).toMatchObject({ problems: [], counts: { folded: 1, openRuns: 1 } });
		const shown = await run(["show", "s", "--db", path], { folder });
		expect(shown.stdout).toMatch(
			/entries 1 to 14 were compacted[\s\S]*you +asked 60[\s\S]*answer +re: asked 50[\s\S]*run 1/,
		);
		expect((await run(["sessions", "--db", path], { folder })).stdout).toContain("asked 60");
	});

	test("removes bodies from the file, once it is vacuumed", async () => {
		await writing(async ({ journal }) => {
			await addRun(journal, "goes", {
				at: now - 60 * day,
				runId: "r1",
				secret: "SECRET-GOES",
				asks: "GOES-TOO",
			});
			for (let each = 0; each < 20; each++)
				await addRun(journal, "stays", {
					at: now - 20 * day,
					runId: `r${each}`,
					secret: "SECRET-FOLDS",
					asks: "KEPT",
				});
		});
		await prune({ removeBefore: now - 30 * day, foldBefore: now - 10 * day });
		const { code, stdout } = await db("vacuum");
		expect([code, stdout]).toEqual([0, expect.stringMatching(/before, .* now/)]);
		expect(bytes()).toContain("KEPT");
		expect(bytes()).not.toMatch(/SECRET|GOES/);
		expect(checked().problems).toEqual([]);
	});
});

test("vacuum reports that others keep the file busy, and the journal is unchanged", async () => {
	await writing(async ({ journal }) => {
		for (let each = 0; each < 50; each++)
			await addRun(journal, `s${each}`, { at: now - 60 * day, runId: `r${each}` });
	});
	const before = statSync(path).size;
	const other = new DatabaseSync(path);
	other.exec("BEGIN IMMEDIATE");
	expect(() => vacuumJournal(path, 20)).toThrow(/The file is busy/);
	other.exec("ROLLBACK; BEGIN; SELECT count(*) FROM entries");
	await prune({ removeBefore: now - 30 * day });
	expect(() => vacuumJournal(path, 20)).toThrow(/another process uses/);
	other.exec("ROLLBACK");
	other.close();
	expect(vacuumJournal(path).after).toBeLessThan(before);
	expect(checked()).toMatchObject({ problems: [], counts: { sessions: 0, freeBytes: 0 } });
});

describe("next to processes that write", () => {
	function writer(name: string): Promise<ChildProcess> {
		const child = fork(new URL("./writer-process.fixture.ts", import.meta.url), [path, name], {
			execArgv: ["--conditions=holdfast-source", "--no-warnings"],
		});
		children.push(child);
		return new Promise((resolve, reject) => {
			child.once("message", () => resolve(child));
			child.once("exit", (code) => reject(new Error(`The writer ended with ${code}.`)));
		});
	}
	const stopped = (child: ChildProcess): Promise<{ turns: number; wrong: readonly string[] }> =>
		new Promise((resolve, reject) => {
			child.once("message", resolve);
			child.once("exit", (code) => reject(new Error(`The writer ended with ${code}.`)));
			child.send("stop");
		});

	test("check, backup, prune and vacuum lose none of the writes, and make no other process fail", async () => {
		await writing(async ({ journal }) => {
			for (let each = 0; each < 60; each++)
				await addRun(journal, `old-${each}`, { at: now - 60 * day, runId: `old-${each}` });
		});
		const writers = [await writer("one"), await writer("two")];
		const copies: string[] = [];
		for (const words of [
			["check"],
			["backup", "1.db"],
			["prune", "--older-than", "30d", "--fold-older-than", "0m"],
			["vacuum"],
			["backup", "2.db"],
			["check", "--full"],
		]) {
			const { code, stdout, stderr } = await db(...words);
			expect([words[0], code, code === 0 ? "" : stdout + stderr]).toEqual([words[0], 0, ""]);
			if (words[0] === "backup") copies.push(join(folder, words[1] as string));
		}
		const reports = await Promise.all(writers.map(stopped));
		const report = checked();
		expect(report.problems).toEqual([]);
		expect(report.counts.sessions).toBe(10);
		expect(reports.flatMap(({ wrong }) => wrong)).toEqual([]);
		const { journal } = open();
		let turns = 0;
		for (const { key } of await journal.list()) {
			for (const { fact } of await journal.read(key)) {
				if (fact.kind === "input") turns++;
				if (fact.kind === "folded") turns += fact.state.messages.filter(({ type }) => type === "user").length;
			}
		}
		expect(turns).toBe(reports.reduce((sum, each) => sum + each.turns, 0));
		for (const copy of copies) expect(checked(copy).problems).toEqual([]);
	});

	test("a prune that is killed at any moment leaves a complete file, and the next one continues", async () => {
		await writing(async ({ journal }) => {
			for (let each = 0; each < 12; each++) {
				const key = `old-${each}`;
				await addRun(journal, key, { at: now - 60 * day, runId: `r${each}` });
				await addRun(journal, childKey(key, "1"), { at: now - 60 * day, runId: `c${each}` });
				const lease = await take(journal, key);
				const facts = factsOfRun("much", "x".repeat(100));
				for (let run = 0; run < 150; run++)
					await lease.append({ at: now - 50 * day, runId: `${key}-${run}`, facts });
			}
			for (const runId of ["a", "b", "c"]) await addRun(journal, "stays", { at: now - 50 * day, runId });
			await addRun(journal, "stays", { at: now, runId: "young" });
		});
		let killed = 0;
		let halves = 0;
		for (let each = 0; each < 5; each++) {
			const pruning = start(
				["db", "prune", "--older-than", "30d", "--fold-older-than", "30d", "--db", path],
				{ folder },
			);
			const look = new DatabaseSync(path, { readOnly: true });
			const rows = look.prepare("SELECT count(*) AS count FROM entries WHERE session > 0");
			const count = (): number => (rows.get() as { count: number }).count;
			const begun = count();
			const end = Date.now() + 10_000;
			// From its first change on, a little later each time.
			while (count() === begun && pruning.child.exitCode === null && Date.now() < end) await setTimeout(1);
			await setTimeout(each * 5);
			if (pruning.child.exitCode === null) killed++;
			pruning.child.kill("SIGKILL");
			await pruning.finished;
			look.close();
			const { problems, counts } = checked();
			expect(problems).toEqual([]);
			halves += counts.hidden;
		}
		expect(killed).toBeGreaterThan(1);
		expect(halves).toBeGreaterThan(0);
		expect((await db("prune", "--older-than", "30d", "--fold-older-than", "30d")).code).toBe(0);
		expect(checked()).toMatchObject({ problems: [], counts: { sessions: 1, hidden: 0, folded: 1 } });
		const [first] = await open().journal.read("stays");
		expect(first).toMatchObject({ seq: 21, runId: "c", fact: { kind: "folded" } });
	});
});
