import { join } from "node:path";
import { memoryValues, type ValueStore } from "holdfast/plugins";
import { type SqliteJournal, sqliteJournal } from "holdfast/sqlite";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { temporaryFolder } from "../../../../test/shared/temporary-folder.fixture.ts";
import { MemorySessionStore } from "../session-store/memory-session-store.ts";
import { storedValues } from "./stored-values.ts";

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

describe.each<[string, () => ValueStore]>([
	["memory", memoryValues],
	["a session store", () => storedValues(new MemorySessionStore())],
	["a SQLite file", () => opened().values],
])("values in %s", (_, make) => {
	test("are copies, stored by session, owner and name, and listed by name", async () => {
		const store = make();
		const note = { words: ["a"] };
		await store.values("s", "one").set("b", note);
		note.words.push("b");
		await store.values("s", "one").set("a", new Uint8Array([1]));
		await store.values("s", "two").set("b", "other");
		expect(await store.values("s", "one").list()).toEqual([
			{ name: "a", value: new Uint8Array([1]) },
			{ name: "b", value: { words: ["a"] } },
		]);
		const got = (await store.values("s", "one").get("b")) as typeof note;
		got.words.push("c");
		expect(await store.values("s", "one").get("b")).toEqual({ words: ["a"] });
		expect(await store.values("other", "one").list()).toEqual([]);
	});

	test("can be replaced and deleted one by one, and with their session", async () => {
		const store = make();
		const values = store.values("s", "one");
		await values.set("a", 1);
		await values.set("a", 2);
		expect(await values.get("a")).toBe(2);
		expect([await values.delete("a"), await values.delete("a"), await values.get("a")]).toEqual([
			true,
			false,
			undefined,
		]);
		await values.set("a", 3);
		await store.values("t", "one").set("a", 4);
		await store.deleteSession("s");
		expect([await values.get("a"), await store.values("t", "one").get("a")]).toEqual([undefined, 4]);
	});

	test("can have any name", async () => {
		const values = make().values("__proto__", "constructor");
		for (const name of ["__proto__", "constructor", "toString"]) {
			expect(await values.get(name)).toBeUndefined();
			await values.set(name, name);
			expect(await values.get(name)).toBe(name);
		}
		expect((await values.list()).map(({ name }) => name)).toEqual(["__proto__", "constructor", "toString"]);
	});

	test("written at the same time are all kept", async () => {
		const values = make().values("s", "one");
		await Promise.all(Array.from({ length: 10 }, (_, at) => values.set(`n${at}`, at)));
		expect(await values.list()).toHaveLength(10);
	});
});

test("values in a session store do not conflict with sessions, and survive the object that wrote them", async () => {
	const store = new MemorySessionStore();
	await store.commit("s", { state: "a session" }, { expectedVersion: null });
	await storedValues(store).values("s", "one").set("a", 1);
	expect((await store.load("s"))?.state).toBe("a session");
	expect(await storedValues(store).values("s", "one").get("a")).toBe(1);
	await storedValues(store).deleteSession("s");
	expect((await store.load("s"))?.state).toBe("a session");
});

test("a store that never accepts a write is reported as an error", async () => {
	const store = new MemorySessionStore();
	store.commit = async () => ({ ok: false, reason: "conflict" });
	const writing = async (): Promise<void> => storedValues(store).values("s", "one").set("a", 1);
	await expect(writing()).rejects.toMatchObject({ code: "values_contended", retryable: true });
});
