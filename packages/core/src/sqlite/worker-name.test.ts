// Named workers: one that is restarted under the name of a dead one continues in its place.
import { join } from "node:path";
import { beforeEach, expect, test } from "vitest";
import { temporaryFolder } from "../../../../test/shared/temporary-folder.fixture.ts";
import type { Input } from "../host/journal.ts";
import { startRemoteWorker } from "./remote-worker.fixture.ts";
import { sqliteJournal } from "./sqlite-journal.ts";

let folder: string;
let path: string;
beforeEach(() => {
	folder = temporaryFolder();
	path = join(folder, "journal.db");
});

const input = (id: string): Input => ({ id, kind: "message", workerId: "clerk", body: {} });

test("a worker reuses the name of a dead one, and any worker can start the inputs which that one had accepted", async () => {
	const dying = await startRemoteWorker({ path, workerId: "clerk" });
	await dying.submit("s", input("one"));
	await dying.end("SIGKILL");
	const journal = sqliteJournal({ path, workerId: "clerk" });
	const other = sqliteJournal({ path });
	await journal.submit("t", input("two"));
	expect(await other.isAlive("clerk")).toBe(true);
	expect((await other.list({ state: "orphaned" })).map(({ key }) => key)).toEqual(["s"]);
	await journal.close();
	await other.close();
});

test("a worker cannot have the name of a living one: none of its writes are kept", async () => {
	const journal = sqliteJournal({ path, workerId: "clerk" });
	const second = sqliteJournal({ path, workerId: "clerk" });
	await journal.submit("s", input("one"));
	await expect(second.submit("t", input("two"))).rejects.toMatchObject({
		code: "journal_failed",
		message: expect.stringContaining('another worker named "clerk" is alive'),
	});
	expect((await journal.list()).map(({ key }) => key)).toEqual(["s"]);
	await second.close();
	await journal.submit("s", input("three"));
	expect((await journal.head("s"))?.waiting).toBe(2);
	await journal.close();
	const third = sqliteJournal({ path, workerId: "clerk" });
	await third.submit("t", input("four"));
	await third.close();
});
