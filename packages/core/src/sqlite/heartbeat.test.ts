import { execFileSync } from "node:child_process";
import { statSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { append, begin, ended, eventually, note, notes, started } from "@holdfast/testing/cases";
import { beforeEach, expect, test } from "vitest";
import { temporaryFolder } from "../../../../test/shared/temporary-folder.fixture.ts";
import { loadSqlite } from "./load-sqlite.ts";
import { startRemoteWorker } from "./remote-worker.fixture.ts";
import { sqliteJournal } from "./sqlite-journal.ts";

let folder: string;
let path: string;

beforeEach(() => {
	folder = temporaryFolder();
	path = join(folder, "journal.db");
});

test("a worker busy for three lease times keeps its run, and loses it when it stops [SES-100]", async () => {
	const leaseTtlMs = 300;
	const worker = await startRemoteWorker({ path, leaseTtlMs });
	const journal = sqliteJournal({ path, leaseTtlMs });
	const lease = await begin(worker, "s");
	const database = new (loadSqlite().DatabaseSync)(path);
	const beats = database.prepare("SELECT count(*) AS count FROM workers WHERE heartbeat = 1");
	await eventually("the heartbeat runs", () => (beats.get() as { count: number }).count === 1);
	database.close();
	let busy = true;
	const blocked = worker.block(4 * leaseTtlMs).then(() => {
		busy = false;
	});
	let claims = 0;
	while (busy) {
		expect(await journal.acquire("s")).toEqual({ ok: false, heldBy: worker.workerId });
		claims++;
		await new Promise((next) => setTimeout(next, 10));
	}
	await blocked;
	expect(claims).toBeGreaterThan(20);
	await append(lease, "run-1", note("still mine"));
	worker.child.kill("SIGSTOP");
	await eventually("the lease lapses", async () => (await journal.acquire("s")).ok);
	expect(notes(await journal.read("s"))).toEqual(["still mine"]);
	await worker.end("SIGKILL");
	await journal.close();
});

test.each([
	["ahead of", 3_600_000],
	["back", -3_600_000],
])(
	"a living worker is waited for, and a stopped one is not, with a clock that is an hour %s its own",
	async (_, error) => {
		const leaseTtlMs = 300;
		const clock = { now: () => Date.now() + error };
		const worker = await startRemoteWorker({ path, leaseTtlMs });
		const journal = sqliteJournal({ path, leaseTtlMs, clock });
		try {
			await begin(worker, "s");
			const database = new (loadSqlite().DatabaseSync)(path);
			const beats = database.prepare("SELECT count(*) AS count FROM workers WHERE heartbeat = 1");
			await eventually("the heartbeat runs", () => (beats.get() as { count: number }).count === 1);
			database.close();
			for (const end = Date.now() + 2 * leaseTtlMs; Date.now() < end; ) {
				expect(await journal.acquire("s")).toEqual({ ok: false, heldBy: worker.workerId });
				await new Promise((next) => setTimeout(next, 10));
			}
			worker.child.kill("SIGSTOP");
			await eventually("the lease lapses", async () => (await journal.acquire("s")).ok, 10 * leaseTtlMs);
		} finally {
			await worker.end("SIGKILL");
			await journal.close();
		}
	},
);

test("a lease that was idle for long sends heartbeats again when its next run starts", async () => {
	const journal = sqliteJournal({ path, leaseTtlMs: 100 });
	const database = new (loadSqlite().DatabaseSync)(path);
	const row = database.prepare("SELECT heartbeat, beat_at FROM workers");
	const lease = await begin(journal, "s");
	await append(lease, "run-1", ended);
	const { beat_at: first } = row.get() as { beat_at: number };
	await eventually("the time to start a heartbeat is over", () => Date.now() - first > 100);
	expect(row.get()).toMatchObject({ heartbeat: 0, beat_at: first });
	await append(lease, "run-2", started);
	expect((row.get() as { beat_at: number }).beat_at).toBeGreaterThan(first);
	await eventually("the heartbeat runs", () => (row.get() as { heartbeat: number }).heartbeat === 1);
	await journal.close();
	expect(row.get()).toBeUndefined();
	database.close();
});

test("neither the heartbeat nor watching keeps a process alive", () => {
	const door = fileURLToPath(new URL("../sqlite.ts", import.meta.url));
	const script = `
		const { sqliteJournal } = await import(${JSON.stringify(door)});
		const journal = sqliteJournal({ path: ${JSON.stringify(path)}, leaseTtlMs: 90 });
		const { lease } = await journal.acquire("s");
		await lease.append({ at: 1, runId: "r", facts: [{ kind: "run.started", runKind: "user-turn", agentId: "a", fingerprint: "f" }] });
		journal.watch("s", () => {});
		await new Promise((next) => setTimeout(next, 300));
		console.log("left");
	`;
	const flags = ["--conditions=holdfast-source", "--input-type=module", "-e", script];
	const output = execFileSync(process.execPath, flags, {
		timeout: 60_000,
		encoding: "utf8",
		stdio: ["ignore", "pipe", "pipe"],
	});
	expect(output).toBe("left\n");
});

test("the write-ahead log stays small during a long run, and closing ends the heartbeat", async () => {
	const journal = sqliteJournal({ path, leaseTtlMs: 200 });
	const lease = await begin(journal, "s");
	for (let index = 0; index < 3_000; index++) await append(lease, "run-1", note("x".repeat(4_000)));
	expect(statSync(`${path}-wal`).size).toBeLessThan(20_000_000);
	await journal.close();
	expect(() => statSync(`${path}-wal`)).toThrow();
});
