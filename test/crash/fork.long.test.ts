// A process that is killed while it forks sessions: each fork is whole, or is not there, and what is half copied goes.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { DatabaseSync } from "node:sqlite";
import { sqliteJournal } from "holdfast/sqlite";
import { expect, onTestFinished, test } from "vitest";

const program = join(import.meta.dirname, "fork-process.fixture.ts");
/** So many that a copy of a process with small transactions takes several of them. */
const entries = 640;

test("forks of a process that is killed at any moment are complete or absent", async () => {
	const folder = mkdtempSync(join(tmpdir(), "holdfast-fork-"));
	onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
	const path = join(folder, "journal.db");
	const journal = sqliteJournal({ path });
	const acquired = await journal.acquire("s");
	if (!acquired.ok) throw new Error("a new session was held");
	const note = { kind: "note", step: 1, topic: "test", value: "x".repeat(200) } as const;
	await acquired.lease.append({
		at: 1,
		runId: "run",
		facts: [
			{ kind: "run.started", runKind: "user-turn", agentId: "a", fingerprint: "f" },
			...Array.from({ length: entries - 2 }, () => note),
			{ kind: "run.ended", outcome: "completed" },
		],
	});
	const looker = new DatabaseSync(path, { timeout: 5_000 });
	const countOf = (sql: string): number => (looker.prepare(sql).get() as { count: number }).count;
	const hiddenKeys = "SELECT key FROM sessions WHERE key LIKE '\"%'";
	const hidden = (): number => looker.prepare(hiddenKeys).all().length;
	let made = 0;
	const halves = new Set<string>();
	const whole = (): number =>
		countOf("SELECT count(*) AS count FROM sessions WHERE key <> 's' AND key NOT LIKE '\"%'");
	/** When the process of a round is killed: later and later, or in the middle of a copy, or right after one. */
	async function moment(round: number, already: number): Promise<void> {
		const isDue = [() => true, () => hidden() > 0, () => whole() > already][round % 3] as () => boolean;
		const end = Date.now() + 20_000;
		while (!isDue() && Date.now() < end) await new Promise((wake) => setTimeout(wake, 1));
		await new Promise((wake) => setTimeout(wake, round * 5));
	}
	const rounds = 12;
	for (let round = 0; round < rounds; round++) {
		const child = spawn(
			process.execPath,
			["--conditions=holdfast-source", "--no-warnings", program, path, `${round}`],
			{ stdio: ["ignore", "pipe", "inherit"] },
		);
		onTestFinished(() => void child.kill("SIGKILL"));
		const already = whole();
		const gone = once(child, "exit");
		await once(createInterface({ input: child.stdout }), "line");
		await moment(round, already);
		child.kill("SIGKILL");
		await gone;
		for (const { key } of looker.prepare(hiddenKeys).all() as { key: string }[]) halves.add(key);
	}
	for (const { key, seq } of await journal.list()) {
		expect([key, seq]).toEqual([key, entries]);
		expect((await journal.read(key)).length).toBe(entries);
		made++;
	}
	console.log(
		`${made - 1} forks were made in ${rounds} processes that were killed, and ${halves.size} were half made.`,
	);
	expect(made).toBeGreaterThan(3);
	expect(halves.size).toBeGreaterThan(1);
	await journal.close();

	const next = sqliteJournal({ path });
	const end = Date.now() + 20_000;
	while (hidden() > 0 && Date.now() < end) await new Promise((wake) => setTimeout(wake, 5));
	expect([hidden(), countOf("SELECT count(*) AS count FROM entries WHERE session > 0")]).toEqual([
		0,
		made * entries,
	]);
	await next.fork("s", "afterwards", entries);
	expect((await next.head("afterwards"))?.seq).toBe(entries);
	expect(await next.read("afterwards")).toEqual(await next.read("s"));
	await next.close();
	looker.close();
});
