import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { scriptedModel } from "@holdfast/testing";
import { afterEach, beforeEach, expect, test } from "vitest";
import { temporaryFolder } from "../../../../test/shared/temporary-folder.fixture.ts";
import { Agent } from "../agent/agent.ts";
import type { ValueStore } from "../host/values.ts";
import { sqliteHost } from "../sqlite.ts";
import { journalFile } from "./schema.ts";
import { type SqliteJournal, sqliteJournal } from "./sqlite-journal.ts";

let folder: string;
beforeEach(() => {
	folder = temporaryFolder();
});
const journals: SqliteJournal[] = [];
afterEach(async () => {
	for (const journal of journals.splice(0)) await journal.close();
});

function opened(): SqliteJournal {
	const journal = sqliteJournal({ path: join(folder, "journal.db") });
	journals.push(journal);
	return journal;
}

test("values in a SQLite file survive the process, and are removed when the journal deletes their session", async () => {
	const first = opened();
	await first.values.values("s", "one").set("a", 1);
	await first.values.values("t", "one").set("a", 2);
	await first.close();
	const second = opened();
	expect(await second.values.values("s", "one").get("a")).toBe(1);
	await second.delete("s");
	expect(await second.values.values("s", "one").get("a")).toBeUndefined();
	expect(await second.values.values("t", "one").get("a")).toBe(2);
	await second.close();
	const writing = async (): Promise<void> => second.values.values("t", "one").set("a", 3);
	await expect(writing()).rejects.toMatchObject({ code: "journal_closed" });
});

test("a session that is recreated in a SQLite file while it is deleted keeps its new values", async () => {
	const host = sqliteHost(join(folder, "anew.db"));
	const values = (host.values as ValueStore).values("s", "one");
	const remove = host.journal.delete.bind(host.journal);
	host.journal.delete = async (key, seen) => {
		await remove(key, seen);
		await values.set("a", "anew");
	};
	const agent = new Agent({ model: scriptedModel(["done"]), host, plugins: [{ name: "any", setup() {} }] });
	await (await agent.session("s").send("go")).result();
	await values.set("a", "old");
	await agent.session("s").delete();
	expect(await values.get("a")).toBe("anew");
	await agent.close();
	await host.close();
});

test("a journal's file from before values existed gets their table when it is opened", async () => {
	const path = join(folder, "journal.db");
	const before = new DatabaseSync(path);
	before.exec(journalFile.migrations[0] ?? "");
	before.exec(`PRAGMA user_version = 1; PRAGMA application_id = ${journalFile.applicationId}`);
	before.close();
	const values = opened().values.values("s", "one");
	await values.set("a", 1);
	expect(await values.get("a")).toBe(1);
});
