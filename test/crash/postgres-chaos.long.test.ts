// Chaos on Postgres: processes that are killed, stopped and cut off again and again, and a database that is restarted.
import { expect, test } from "vitest";
import { runChaos } from "./chaos.fixture.ts";

test("through 300 faults every run ends, every effect happens as promised, and every watcher sees everything", async () => {
	const { problems, faults, ...report } = await runChaos({ faults: 300, seed: 1, sessions: 4, served: 3 });
	expect(problems).toEqual([]);
	expect(Object.values(faults).reduce((sum, count) => sum + count, 0)).toBe(300);
	for (const kind of ["cut", "freeze", "stop", "long stop", "kill", "restart", "cut watchers"])
		expect(faults[kind], kind).toBeGreaterThan(0);
	// Each session was asked twice and more, and what was asked for is over.
	expect(report.served).toBeGreaterThanOrEqual(6);
	expect(report.runs - report.served).toBeGreaterThanOrEqual(8);
	expect(report.owners).toBeGreaterThanOrEqual(7);
}, 900_000);
