import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, onTestFinished, test } from "vitest";
import { temporaryFolder } from "../../../../test/shared/temporary-folder.fixture.ts";
import { sqliteHost } from "../sqlite.ts";

test("a timer with a damaged body is claimed and listed with the others, and can be cancelled", async () => {
	const path = join(temporaryFolder(), "timers.db");
	const { timers, close } = sqliteHost(path);
	onTestFinished(close);
	for (const [at, name] of ["a", "b", "c"].entries())
		await timers.set({ key: "s", name, wakeAt: 1_000 + at, body: { name } });
	const database = new DatabaseSync(path);
	database.exec(`UPDATE timers SET body = '{"name' WHERE name = 'b'`);
	database.close();
	const corrupt = expect.objectContaining({ code: "journal_corrupt" });
	for (const found of [await timers.list("s"), await timers.claim({ now: 2_000 })]) {
		expect(found.map(({ name }) => name)).toEqual(["a", "b", "c"]);
		const [first, damaged, last] = found;
		expect([first?.body, last?.body]).toEqual([{ name: "a" }, { name: "c" }]);
		expect(() => damaged?.body).toThrow(corrupt);
	}
	expect(await timers.cancel("s", "b")).toBe(true);
	expect((await timers.list("s")).map(({ name }) => name)).toEqual(["a", "c"]);
});
