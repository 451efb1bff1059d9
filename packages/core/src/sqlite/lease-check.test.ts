import { join } from "node:path";
import { StatementSync } from "node:sqlite";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { temporaryFolder } from "../../../../test/shared/temporary-folder.fixture.ts";
import type { Lease } from "../host/journal.ts";
import { type SqliteJournal, sqliteJournal } from "./sqlite-journal.ts";

let folder: string;
let journals: SqliteJournal[];
beforeEach(() => {
	folder = temporaryFolder();
	const path = join(folder, "journal.db");
	journals = [sqliteJournal({ path }), sqliteJournal({ path })];
});
afterEach(async () => {
	vi.restoreAllMocks();
	for (const journal of journals) await journal.close();
});

async function take(journal: SqliteJournal, mode: "polite" | "seize"): Promise<Lease> {
	const acquired = await journal.acquire("s", { mode });
	if (!acquired.ok) throw new Error("held");
	await acquired.lease.append({
		at: 1,
		runId: mode,
		facts: [{ kind: "run.started", runKind: "user-turn", agentId: "a", fingerprint: "f" }],
	});
	return acquired.lease;
}

test("a lease that was taken over while its process was paused is lost at the first check, and reports it before it returns", async () => {
	const now = vi.spyOn(performance, "now").mockReturnValue(1_000);
	const [first, second] = journals as [SqliteJournal, SqliteJournal];
	const lease = await take(first, "polite");
	const emitted = vi.fn();
	lease.whenLost(emitted);
	now.mockReturnValue(2_000);
	lease.check?.();
	expect([lease.isLost, emitted.mock.calls.length]).toEqual([false, 0]);
	await take(second, "seize");
	// The feed polls independently; none of its polls happens between these lines.
	now.mockReturnValue(3_000);
	const wasLost = lease.isLost;
	lease.check?.();
	expect([wasLost, lease.isLost, emitted.mock.calls.length]).toEqual([false, true, 1]);
	lease.check?.();
	expect(emitted).toHaveBeenCalledOnce();
});

test("the check is skipped right after a commit, because no worker is considered dead so soon", async () => {
	vi.spyOn(performance, "now").mockReturnValue(1_000);
	const [first, second] = journals as [SqliteJournal, SqliteJournal];
	const lease = await take(first, "polite");
	await take(second, "seize");
	lease.check?.();
	expect(lease.isLost).toBe(false);
	await expect(lease.append({ at: 2, runId: "polite", facts: [] })).rejects.toMatchObject({
		code: "lease_lost",
	});
});

test("no lease checks itself while the feed sees no other commits, and each does once there are some", async () => {
	vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
	try {
		const [first, second] = journals as [SqliteJournal, SqliteJournal];
		const lease = await take(first, "polite");
		const lost = vi.fn();
		lease.whenLost(lost);
		vi.advanceTimersByTime(50); // the feed's first poll has no earlier one to compare with
		await lease.append({ at: 2, runId: "polite", facts: [] });
		vi.advanceTimersByTime(500);
		const asked = vi.spyOn(StatementSync.prototype, "get");
		lease.check?.();
		expect(asked).not.toHaveBeenCalled();
		await take(second, "seize");
		asked.mockClear();
		vi.advanceTimersByTime(150); // the feed polls, and makes each lease check
		expect(lost).toHaveBeenCalledOnce();
		expect(asked).toHaveBeenCalled();
	} finally {
		vi.useRealTimers();
	}
});

test("a process that was paused checks itself, regardless of what its feed saw before", async () => {
	vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
	try {
		const [first, second] = journals as [SqliteJournal, SqliteJournal];
		const lease = await take(first, "polite");
		lease.whenLost(() => {});
		vi.advanceTimersByTime(50);
		await lease.append({ at: 2, runId: "polite", facts: [] });
		vi.advanceTimersByTime(25);
		await take(second, "seize");
		const now = performance.now();
		vi.spyOn(performance, "now").mockReturnValue(now + 1_000); // no timer fired meanwhile
		lease.check?.();
		expect(lease.isLost).toBe(true);
	} finally {
		vi.useRealTimers();
	}
});
