// What a lease is given with it.
import { input } from "@holdfast/testing/cases";
import { expect, onTestFinished, test } from "vitest";
import { postgresHost } from "./index.ts";
import { testServer } from "./test-server.fixture.ts";

test("waiting inputs of a session are returned with its lease, each session's own and in order, unless there are many", async () => {
	const { url, schema } = await testServer();
	const { journal, close } = postgresHost({ connectionString: url, schema: schema() });
	onTestFinished(() => close());
	const counts = [0, 1, 8, 9];
	for (const count of counts)
		for (let at = 0; at < count; at++)
			await journal.submit(`s${count}`, {
				...input(`i${count}-${at}`),
				workerId: "w",
				dedupeKey: `k\u0000${at}`,
			});
	const acquired = await Promise.all(counts.map((count) => journal.acquire(`s${count}`)));
	const seen = acquired.map((each) => (each.ok ? each.inbox : "held"));
	expect(seen.map((each) => each?.length)).toEqual([0, 1, 8, undefined]);
	for (const [at, count] of counts.slice(0, 3).entries())
		expect(JSON.stringify(seen[at])).toBe(JSON.stringify(await journal.inbox(`s${count}`)));
	const [, , , much] = acquired;
	expect(await (much?.ok ? much.lease.inbox() : [])).toHaveLength(9);
});
