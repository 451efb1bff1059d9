import { join } from "node:path";
import { input } from "@holdfast/testing/cases";
import { expect, test } from "vitest";
import { temporaryFolder } from "../../../../test/shared/temporary-folder.fixture.ts";
import { sqliteJournal } from "./sqlite-journal.ts";

test("of many sessions with any keys, only those that another journal changes are emitted", async () => {
	const path = join(temporaryFolder(), "journal.db");
	const [own, other] = [sqliteJournal({ path }), sqliteJournal({ path })];
	const odd = ["", "\u0000", "a\u0000b", '"quoted"', "%back\\slash", "\ud800lone", "ü€😀"];
	const keys = [...odd, ...Array.from({ length: 1_200 }, (_, at) => `session-${at}`)];
	const emitted = new Set<string>();
	try {
		await other.submit("session-7", input("before"));
		for (const key of keys) own.watch(key, () => emitted.add(key));
		const changed = [...odd, "session-0", "session-7", "session-499", "session-500", "session-1199"];
		for (const key of changed) await other.submit(key, input("after"));
		await expect.poll(() => [...emitted].toSorted()).toEqual(changed.toSorted());
		emitted.clear();
		await other.delete("session-7");
		await expect.poll(() => [...emitted]).toEqual(["session-7"]);
	} finally {
		await other.close();
		await own.close();
	}
});
