// Every operation of workflows on SQLite, with a second process that continues.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { everyOutcome, outcomeOnTwoHosts } from "../../../../test/shared/workflow-operations.fixture.ts";
import { sqliteHost } from "../sqlite.ts";

test("a workflow uses every operation in one file, and another host continues it", async () => {
	const folder = mkdtempSync(join(tmpdir(), "holdfast-workflow-"));
	const hosts = [1, 2].map(() => sqliteHost(join(folder, "journal.db")));
	onTestFinished(async () => {
		for (const host of hosts) await host.close();
		rmSync(folder, { recursive: true });
	});
	const [one, two] = hosts as [(typeof hosts)[0], (typeof hosts)[0]];
	expect(await outcomeOnTwoHosts(one, two)).toEqual(everyOutcome);
});
