import { execFileSync } from "node:child_process";
import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ownIdentity } from "holdfast/sqlite";
import { beforeEach, expect, test } from "vitest";
import { temporaryFolder } from "../../../../test/shared/temporary-folder.fixture.ts";
import { withLock } from "./file-lock.ts";

let dir: string;
beforeEach(() => {
	dir = temporaryFolder();
});

/** Leaves the lock of a dead process. */
function leaveLock(name: string, token: string): void {
	const pid = Number(execFileSync(process.execPath, ["-p", "process.pid"], { encoding: "utf8" }));
	writeFileSync(join(dir, name), JSON.stringify({ ...ownIdentity(), started: "1", pid, token }));
}

test("requests for a lock get it one after the other, and leave nothing behind", async () => {
	let within = 0;
	const most: number[] = [];
	await Promise.all(
		Array.from({ length: 20 }, () =>
			withLock(join(dir, "lock"), async () => {
				most.push(++within);
				await new Promise((resolve) => setImmediate(resolve));
				within--;
			}),
		),
	);
	expect(most).toEqual(Array.from({ length: 20 }, () => 1));
	expect(readdirSync(dir)).toEqual([]);
});

// Without seeing that the owner is dead, it would take twice the patience of ten seconds.
test("a dead owner's lock is broken at once by many, one at a time, even if a breaker died before [SES-084]", {
	timeout: 18_000,
}, async () => {
	leaveLock("lock", "first");
	leaveLock("lock.first", "second");
	let within = 0;
	await Promise.all(
		Array.from({ length: 10 }, () =>
			withLock(join(dir, "lock"), async () => {
				expect(++within).toBe(1);
				await new Promise((resolve) => setImmediate(resolve));
				within--;
			}),
		),
	);
	expect(readdirSync(dir)).toEqual([]);
});

test("a lock is released if the work fails", async () => {
	const work = async (): Promise<never> => {
		throw new Error("failed");
	};
	await expect(withLock(join(dir, "lock"), work)).rejects.toThrow("failed");
	expect(readdirSync(dir)).toEqual([]);
});

test("a lock of a living process is waited for, within limits, and reported with its owner", async () => {
	writeFileSync(join(dir, "lock"), JSON.stringify({ ...ownIdentity(), token: "kept" }));
	const waiting = withLock(join(dir, "lock"), async () => {}, 50);
	await expect(waiting).rejects.toMatchObject({ code: "session_store_busy", data: { pid: process.pid } });
	expect(readdirSync(dir)).toEqual(["lock"]);
});

test("a lock of another machine, which cannot be observed, is broken after a long time without changes", async () => {
	writeFileSync(join(dir, "lock"), JSON.stringify({ ...ownIdentity(), machine: "another", token: "kept" }));
	expect(await withLock(join(dir, "lock"), async () => "done", 50)).toBe("done");
	expect(readdirSync(dir)).toEqual([]);
});
