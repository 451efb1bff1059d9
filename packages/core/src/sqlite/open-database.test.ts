import {
	chmodSync,
	copyFileSync,
	existsSync,
	mkdirSync,
	readdirSync,
	readFileSync,
	renameSync,
	statSync,
	truncateSync,
	writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { append, begin, ended, input, note, notes, take } from "@holdfast/testing/cases";
import { beforeEach, expect, test, vi } from "vitest";
import { temporaryFolder } from "../../../../test/shared/temporary-folder.fixture.ts";
import type { ListOptions } from "../host/journal.ts";
import { openJournalFile } from "./journal-file.ts";
import { loadSqlite } from "./load-sqlite.ts";
import { startRemoteWorker } from "./remote-worker.fixture.ts";
import { journalFile } from "./schema.ts";
import { sqliteJournal } from "./sqlite-journal.ts";

let folder: string;
let path: string;

beforeEach(() => {
	folder = temporaryFolder();
	path = join(folder, "journal.db");
});

const raw = (file: string) => new (loadSqlite().DatabaseSync)(file);

/** Every file of the folder with its content. */
const contents = (): Record<string, string> =>
	Object.fromEntries(readdirSync(folder).map((name) => [name, readFileSync(join(folder, name), "base64")]));

async function makeJournal(sessions = 1): Promise<void> {
	const journal = sqliteJournal({ path });
	for (let index = 0; index < sessions; index++) {
		await append(await begin(journal, `s${index}`), "run-1", note("x".repeat(3_000)), ended);
	}
	await journal.close();
}

/** Opening is refused with the code, and no byte changes. */
function expectRefusal(code: string): void {
	const before = contents();
	expect(() => sqliteJournal({ path })).toThrow(expect.objectContaining({ code }));
	expect(contents()).toEqual(before);
}

test("a new file and its folders are created, only for its user, and nothing else is left when it is closed", async () => {
	path = join(folder, "deep", "er #%?", "journal.db");
	const journal = sqliteJournal({ path });
	await begin(journal, "s");
	for (const name of readdirSync(join(folder, "deep", "er #%?"))) {
		expect(statSync(join(folder, "deep", "er #%?", name)).mode & 0o777).toBe(0o600);
	}
	await journal.close();
	expect(readdirSync(join(folder, "deep", "er #%?"))).toEqual(["journal.db"]);
});

test("appended entries are present when the file is opened again, and opening migrates once", async () => {
	await makeJournal(3);
	for (let round = 0; round < 2; round++) {
		const journal = sqliteJournal({ path });
		expect((await journal.list()).map((head) => [head.key, head.seq])).toEqual([
			["s0", 3],
			["s1", 3],
			["s2", 3],
		]);
		expect(notes(await journal.read("s2"))).toEqual(["x".repeat(3_000)]);
		await journal.close();
	}
	const before = contents();
	await sqliteJournal({ path }).close();
	expect(contents()).toEqual(before);
});

test("waiting runs in a file from before the lists of runs are found by their deadlines", async () => {
	const before = raw(path);
	for (const step of journalFile.migrations.slice(0, 4)) before.exec(step);
	before.exec(`PRAGMA user_version = 4; PRAGMA application_id = ${journalFile.applicationId}`);
	const session = before.prepare(
		"INSERT INTO sessions (key, epoch, open_run, inputs, created_at, updated_at) VALUES (?, 1, 'r', 0, 1, 1) RETURNING id",
	);
	const entry = before.prepare(
		"INSERT INTO entries (session, seq, run_id, kind, version, at, body) VALUES (?, ?, 'r', ?, 1, 1, ?)",
	);
	const calls = (...deadlines: number[]): string =>
		JSON.stringify({
			step: 1,
			calls: deadlines.map((deadline) => ({ callId: "c", awaits: "result", since: 1, deadline })),
		});
	const last = {
		due: ["waiting", calls(9_000, 5_000)],
		parked: ["run.parked", '{"reason":"crash","crashes":6}'],
		patient: ["waiting", calls()],
		working: ["usage", "{}"],
	};
	for (const [key, [kind, body]] of Object.entries(last)) {
		const { id } = session.get(key) as { id: number };
		entry.run(id, 1, "run.started", "{}");
		entry.run(id, 2, kind as string, body as string);
	}
	before.close();
	const journal = sqliteJournal({ path });
	const keys = async (options: ListOptions): Promise<string[]> =>
		(await journal.list(options)).map(({ key }) => key);
	expect(await keys({ state: "waiting" })).toEqual(["due", "patient"]);
	expect(await keys({ state: "waiting", dueBy: 5_000 })).toEqual(["due"]);
	expect(await keys({ state: "orphaned" })).toEqual(["working"]);
	expect(await keys({ state: "open" })).toEqual(["due", "parked", "patient", "working"]);
	await journal.close();
});

test("a journal of the previous release is read completely, and each of its sessions gets an incarnation", async () => {
	const golden = new URL("./golden-journal-5.fixture.db.gz", import.meta.url);
	writeFileSync(path, gunzipSync(readFileSync(golden)));
	const journal = sqliteJournal({ path });
	const heads = await journal.list();
	expect(heads.map(({ key, seq, waiting, openRunId }) => [key, seq, waiting, openRunId])).toEqual([
		["folded", 6, 0, undefined],
		["fork", 3, 0, undefined],
		['room\0"7"', 5, 1, "run-2"],
		["waits", 2, 0, "run-9"],
	]);
	expect(new Set(heads.map(({ incarnation }) => incarnation)).size).toBe(4);
	expect(notes(await journal.read('room\0"7"'))).toEqual(["one", { deep: [1, null, "ä"] }]);
	expect((await journal.read("folded")).map(({ fact }) => fact.kind)).toEqual([
		"folded",
		"run.started",
		"note",
		"run.ended",
	]);
	const chunks = { after: { seq: 0, sub: 0 }, through: 10, limit: 10 };
	expect(await journal.readChunks?.("waits", chunks)).toEqual([{ seq: 1, sub: 1, event: { type: "text" } }]);
	expect((await journal.list({ state: "waiting", dueBy: 5_000 })).map(({ key }) => key)).toEqual(["waits"]);
	expect(await journal.values.values("fork", "plugin").get("count")).toEqual({ a: 1 });
	expect(await journal.records.get({ shelf: "shelf", name: "name" })).toEqual({
		revision: 1,
		value: { n: 1 },
	});
	const lease = await take(journal, 'room\0"7"');
	expect(await lease.inbox()).toMatchObject([{ id: "i", kind: "steer", runId: "run-2", dedupeKey: "d" }]);
	expect(await append(lease, "run-2", ended)).toBe(6);
	await journal.close();
});

test("a session that an older release created during the migration also has an incarnation", async () => {
	const journal = sqliteJournal({ path });
	const old = raw(path);
	for (const key of ["a", "b"])
		old
			.prepare("INSERT INTO sessions (key, epoch, inputs, created_at, updated_at) VALUES (?, 1, 0, 1, 1)")
			.run(key);
	old.close();
	const [a, b] = await journal.list();
	expect([typeof a?.incarnation, typeof b?.incarnation]).toEqual(["string", "string"]);
	expect(a?.incarnation).not.toBe(b?.incarnation);
	expect((await journal.head("a"))?.incarnation).toBe(a?.incarnation);
	await journal.close();
});

test.skipIf(process.platform === "win32").each(["removed", "replaced"])(
	"a file that is %s while it is open is an error for each read and write, until it is restored",
	async (what) => {
		const journal = sqliteJournal({ path });
		const lease = await begin(journal, "s");
		renameSync(path, `${path}.away`);
		if (what === "replaced") copyFileSync(`${path}.away`, path);
		await new Promise((resolve) => setTimeout(resolve, 60));
		const code = "journal_unavailable";
		await expect(lease.append({ at: 1, runId: "run-1", facts: [note(1)] })).rejects.toMatchObject({ code });
		await expect(journal.submit("s", input("i"))).rejects.toMatchObject({ code });
		await expect((async () => journal.read("s"))()).rejects.toMatchObject({ code });
		renameSync(`${path}.away`, path);
		await new Promise((resolve) => setTimeout(resolve, 60));
		await append(lease, "run-1", note(2), ended);
		expect(notes(await journal.read("s"))).toEqual([2]);
		await journal.close();
	},
);

test("an empty file becomes a journal", async () => {
	writeFileSync(path, "");
	await makeJournal();
	expect(statSync(path).size).toBeGreaterThan(4_096);
});

test("a file that is not a database is rejected and unchanged", () => {
	writeFileSync(path, "These are my notes, not a database. ".repeat(1_000));
	expectRefusal("journal_foreign");
});

test("a database of another program is rejected and unchanged, whether it is open there or not", () => {
	const database = raw(path);
	database.exec("PRAGMA journal_mode = WAL; CREATE TABLE notes (text); INSERT INTO notes VALUES ('mine')");
	const before = readFileSync(path);
	expect(() => sqliteJournal({ path })).toThrow(expect.objectContaining({ code: "journal_foreign" }));
	expect(readFileSync(path)).toEqual(before);
	database.close();
	expectRefusal("journal_foreign");
});

test("a file of a newer release is rejected and unchanged", async () => {
	await makeJournal();
	const database = raw(path);
	database.exec("PRAGMA user_version = 999");
	database.close();
	expectRefusal("journal_newer");
});

test("a newer version that a crash left in the write-ahead log is also detected", async () => {
	await makeJournal();
	const database = raw(path);
	database.exec("PRAGMA wal_autocheckpoint = 0; PRAGMA user_version = 999");
	const crashed = join(folder, "crashed.db");
	for (const suffix of ["", "-wal"]) copyFileSync(path + suffix, crashed + suffix);
	database.close();
	path = crashed;
	const before = [readFileSync(path), readFileSync(`${path}-wal`)];
	expect(() => sqliteJournal({ path })).toThrow(expect.objectContaining({ code: "journal_newer" }));
	expect([readFileSync(path), readFileSync(`${path}-wal`)]).toEqual(before);
});

test("a truncated file is rejected and unchanged", async () => {
	await makeJournal(20);
	truncateSync(path, statSync(path).size - 3 * 4_096);
	expectRefusal("journal_corrupt");
});

test("a file with overwritten pages is rejected and unchanged", async () => {
	await makeJournal(20);
	const bytes = readFileSync(path);
	writeFileSync(path, bytes.fill(0x5a, 4_096));
	expectRefusal("journal_corrupt");
});

test("damage that opening cannot detect is reported by the first read of it", async () => {
	await makeJournal();
	const database = raw(path);
	database.exec(`UPDATE entries SET body = '{"step":' WHERE kind = 'note'`);
	database.close();
	const journal = sqliteJournal({ path });
	expect(() => journal.read("s0")).toThrow(expect.objectContaining({ code: "journal_corrupt" }));
	await journal.close();
});

test("a fact of a newer release is rejected by the first read of it, and kept", async () => {
	await makeJournal();
	const database = raw(path);
	database.exec("UPDATE entries SET version = 9 WHERE kind = 'note'");
	const journal = sqliteJournal({ path });
	expect(() => journal.read("s0")).toThrow(expect.objectContaining({ code: "journal_newer" }));
	await journal.close();
	expect(database.prepare("SELECT version FROM entries WHERE kind = 'note'").get()).toEqual({ version: 9 });
	database.close();
});

test("a path that cannot be a file is rejected with a reason", () => {
	mkdirSync(path);
	expect(() => sqliteJournal({ path })).toThrow(expect.objectContaining({ code: "journal_unavailable" }));
	writeFileSync(join(folder, "file"), "");
	expect(() => sqliteJournal({ path: join(folder, "file", "journal.db") })).toThrow(
		expect.objectContaining({ code: "journal_unavailable" }),
	);
	expect(() => sqliteJournal({ path: ":memory:" })).toThrow(
		expect.objectContaining({ code: "journal_unavailable" }),
	);
	expect(existsSync(":memory:")).toBe(false);
});

test("a Node without SQLite gets an error, and no file is created", () => {
	const builtin = vi.spyOn(process, "getBuiltinModule").mockReturnValue({ isBuiltin: () => false } as never);
	try {
		const refused = { code: "journal_unavailable", message: expect.stringContaining("Node 22.18 or newer") };
		expect(() => sqliteJournal({ path })).toThrow(expect.objectContaining(refused));
	} finally {
		builtin.mockRestore();
	}
	expect(readdirSync(folder)).toEqual([]);
});

test("a misspelt option and an address instead of a path are rejected, and no file is created", () => {
	for (const given of [{ path, durabilty: "power" }, { path: `file:${path}` }])
		expect(() => sqliteJournal(given)).toThrow(expect.objectContaining({ code: "invalid_option" }));
	expect(readdirSync(folder)).toEqual([]);
});

test.skipIf(process.getuid?.() === 0)("a file that this user may not write is rejected", async () => {
	await makeJournal();
	chmodSync(path, 0o400);
	expectRefusal("journal_unavailable");
});

test.skipIf(process.getuid?.() === 0)(
	"a file in a folder that this user may not write is read unchanged, and nothing is left next to it",
	async () => {
		await makeJournal();
		const before = contents();
		chmodSync(path, 0o400);
		chmodSync(folder, 0o500);
		try {
			const { database } = openJournalFile(path, "read");
			expect(database.prepare("SELECT count(*) AS sessions FROM sessions").get()).toEqual({ sessions: 1 });
			database.close();
			expect(contents()).toEqual(before);
		} finally {
			chmodSync(folder, 0o700);
		}
	},
);

test("a file that another program keeps locked is rejected after a short wait, and can be retried", async () => {
	await makeJournal();
	const database = raw(path);
	database.exec("PRAGMA locking_mode = EXCLUSIVE; UPDATE meta SET value = value; BEGIN EXCLUSIVE");
	expect(() => sqliteJournal({ path })).toThrow(
		expect.objectContaining({ code: "journal_unavailable", retryable: true }),
	);
	database.exec("COMMIT");
	database.close();
	await sqliteJournal({ path }).close();
});

test("processes that open a new file at the same time all get the same journal", async () => {
	const workers = await Promise.all(Array.from({ length: 4 }, () => startRemoteWorker({ path })));
	await Promise.all(
		workers.map(async (worker, index) => append(await take(worker, `s${index}`), "run-1", note(index))),
	);
	for (const worker of workers)
		expect((await worker.list()).map((head) => head.key)).toEqual(["s0", "s1", "s2", "s3"]);
	await Promise.all(workers.map((worker) => worker.end("SIGKILL")));
});
