// A process that is killed while it forks sessions: each fork is whole, or is not there.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { sqliteJournal } from "holdfast/sqlite";
import { expect, onTestFinished, test } from "vitest";

const program = join(import.meta.dirname, "fork-process.fixture.ts");
const entries = 3_000;

test("forks of a process that is killed at any moment are whole or not there", async () => {
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
	let made = 0;
	for (let round = 0; round < 12; round++) {
		const child = spawn(
			process.execPath,
			["--conditions=holdfast-source", "--no-warnings", program, path, `${round}`],
			{ stdio: ["ignore", "pipe", "inherit"] },
		);
		const told = createInterface({ input: child.stdout });
		await once(told, "line");
		await new Promise((resolve) => setTimeout(resolve, round * 7));
		child.kill("SIGKILL");
		await once(child, "exit");
	}
	for (const { key, seq } of await journal.list()) {
		expect([key, seq]).toEqual([key, entries]);
		expect((await journal.read(key)).length).toBe(entries);
		made++;
	}
	console.log(`${made - 1} forks were made in 12 processes that were killed.`);
	expect(made).toBeGreaterThan(3);
	await journal.fork("s", "afterwards", entries);
	expect((await journal.head("afterwards"))?.seq).toBe(entries);
	await journal.close();
});
