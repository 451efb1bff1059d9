// Chaos on Postgres: processes that are killed, stopped and cut off again and again, and a database that is restarted.
import { expect, test } from "vitest";
import { runChaos } from "./chaos.fixture.ts";

test("through 300 faults every run comes to its end, every effect is done as promised, and every watcher sees it all", async () => {
	const { problems, faults, ...report } = await runChaos({ faults: 300, seed: 1, sessions: 6, served: 0 });
	expect(problems).toEqual([]);
	expect(Object.values(faults).reduce((sum, count) => sum + count, 0)).toBe(300);
	for (const kind of ["cut", "freeze", "stop", "long stop", "kill", "restart", "cut watchers"])
		expect(faults, kind).toHaveProperty([kind], expect.any(Number));
	expect(report.runs).toBeGreaterThanOrEqual(12);
	expect(report.owners).toBeGreaterThanOrEqual(6);
}, 900_000);
