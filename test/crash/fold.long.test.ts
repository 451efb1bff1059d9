// A process that is killed while it folds a long session: others read all of the past or what it came to, never a part
// of either, and what is left of the rows goes.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { copyFileSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { DatabaseSync } from "node:sqlite";
import { sqliteJournal } from "holdfast/sqlite";
import { expect, onTestFinished, test } from "vitest";

const program = join(import.meta.dirname, "fold-process.fixture.ts");
/** So many that the fold of a process with small transactions takes many of them. */
const folded = 2_000;
const later = 10;

test("a compaction of a process that is killed at any moment is complete or absent, and is finished by the next", async () => {
	const folder = mkdtempSync(join(tmpdir(), "holdfast-fold-"));
	onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
	const model = join(folder, "model.db");
	const filling = sqliteJournal({ path: model });
	const acquired = await filling.acquire("s");
	if (!acquired.ok) throw new Error("a new session was held");
	const note = { kind: "note", step: 1, topic: "test", value: "x".repeat(200) } as const;
	for (const [at, count] of [
		[1, folded],
		[100, later],
	] as const)
		await acquired.lease.append({
			at,
			runId: `run-${at}`,
			facts: [
				{ kind: "run.started", runKind: "user-turn", agentId: "a", fingerprint: "f" },
				...Array.from({ length: count - 2 }, () => note),
				{ kind: "run.ended", outcome: "completed" },
			],
		});
	await acquired.lease.release();
	await filling.close();

	const found = { before: 0, half: 0, whole: 0 };
	// Killed later and later: as often as it takes on this machine.
	for (let round = 0; round < 8 || (round < 40 && (found.half < 3 || found.before === 0)); round++) {
		const path = join(folder, `${round}.db`);
		copyFileSync(model, path);
		const looker = new DatabaseSync(path, { timeout: 5_000 });
		const countOf = (sql: string): number => (looker.prepare(sql).get() as { count: number }).count;
		const rows = (): number => countOf("SELECT count(*) AS count FROM entries WHERE session > 0");
		const first = (): number => countOf("SELECT min(seq) AS count FROM entries WHERE session > 0");
		const left = (): number => countOf("SELECT count(*) AS count FROM meta WHERE name LIKE 'folded %'");
		const child = spawn(
			process.execPath,
			["--conditions=holdfast-source", "--no-warnings", program, path, "50"],
			{ stdio: ["ignore", "pipe", "inherit"] },
		);
		onTestFinished(() => void child.kill("SIGKILL"));
		const gone = once(child, "exit");
		await once(createInterface({ input: child.stdout }), "line");
		const end = Date.now() + 20_000;
		// Every other one from its first commit on, if that was not its last.
		if (round % 2 === 1)
			while (left() === 0 && first() === 1 && Date.now() < end)
				await new Promise((wake) => setTimeout(wake, 1));
		await new Promise((resolve) => setTimeout(resolve, round * 5));
		child.kill("SIGKILL");
		await gone;

		const journal = sqliteJournal({ path });
		const read = await journal.read("s"); // before it can have swept anything
		if (read.length === folded + later) found.before++;
		else {
			expect(read.map(({ seq }) => seq)).toEqual(
				Array.from({ length: later + 1 }, (_, index) => folded + index),
			);
			expect(read[0]?.fact.kind).toBe("folded");
			if (rows() > later + 1) found.half++;
			else found.whole++;
		}
		while (left() > 0 && Date.now() < end) await new Promise((wake) => setTimeout(wake, 5));
		expect(rows()).toBe(read.length);
		expect((await journal.read("s")).length).toBe(read.length);
		await journal.close();
		looker.close();
	}
	console.log(`Folds of killed processes: ${JSON.stringify(found)}.`);
	expect(found.half).toBeGreaterThan(2);
	expect(found.before).toBeGreaterThan(0);
});
