// The property of replayer.property.test.ts over thousands of programs.
import fc from "fast-check";
import { expect, test } from "vitest";
import { crashesAreInvisible } from "./crashes.fixture.ts";
import { programs } from "./program.fixture.ts";

test("5,000 programs have the same result regardless of the append at which their worker dies", async () => {
	await fc.assert(
		fc.asyncProperty(programs, fc.nat(), async (program, seed) => {
			expect(await crashesAreInvisible(program, seed)).toEqual([]);
		}),
		{ numRuns: 5_000, seed: 35586210 },
	);
}, 600_000);
