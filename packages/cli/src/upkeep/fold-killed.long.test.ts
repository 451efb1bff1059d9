// Folding a large session is one transaction, in which its process is killed.
import { statSync } from "node:fs";
import { join } from "node:path";
import { type SqliteHost, sqliteHost } from "holdfast/sqlite";
import { expect, test } from "vitest";
import { temporaryFolder } from "../../../../test/shared/temporary-folder.fixture.ts";
import { run, start } from "../command/spawn.fixture.ts";
import { checkFile } from "./check-file.fixture.ts";
import { day, factsOfRun, take } from "./old-sessions.fixture.ts";

const now = Date.now();

/** Writes with a host that is closed afterwards. */
async function writing(path: string, work: (host: SqliteHost) => Promise<unknown>): Promise<void> {
	const host = sqliteHost(path);
	await work(host);
	await host.close();
}

test("a compaction that is killed in the middle leaves all entries, or the one that replaces them", async () => {
	const folder = temporaryFolder();
	const path = join(folder, "j.db");
	const runs = 2_000;
	await writing(path, async ({ journal }) => {
		const lease = await take(journal, "s");
		const facts = factsOfRun("much", "x".repeat(1_000));
		const at = now - 50 * day;
		await Promise.all(
			Array.from({ length: runs }, async (_, index) => lease.append({ at, runId: `r${index}`, facts })),
		);
	});
	const sizeOfLog = (): number => statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0;
	const found = { whole: 0, folded: 0 };
	for (let each = 0; each < 4; each++) {
		await writing(path, async () => {}); // the last to close the file leaves no log
		expect(sizeOfLog()).toBe(0);
		const folding = start(["db", "prune", "--fold-older-than", "30d", "--db", path], { folder });
		const end = Date.now() + 10_000;
		// The log grows while the transaction is still open, because it exceeds the memory cache.
		while (sizeOfLog() < 100_000 + each * 400_000 && folding.child.exitCode === null && Date.now() < end)
			await new Promise((wake) => setImmediate(wake));
		folding.child.kill("SIGKILL");
		await folding.finished;
		const { problems, counts } = checkFile(path);
		expect(problems).toEqual([]);
		expect([1, runs * 7]).toContain(counts.entries);
		found[counts.entries === 1 ? "folded" : "whole"]++;
		if (found.folded > 0) break;
	}
	expect((await run(["db", "prune", "--fold-older-than", "30d", "--db", path], { folder })).code).toBe(0);
	await writing(path, async ({ journal }) => {
		const [entry] = await journal.read("s");
		expect(entry).toMatchObject({ seq: runs * 7, fact: { kind: "folded" } });
	});
});
