// Random programs of sequences, Promise.all, race, any and allSettled, branches, loops and try/catch: a crash before or
// after any append changes nothing about their results.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { crashesAreInvisible } from "./crashes.fixture.ts";
import { programs } from "./program.fixture.ts";

describe("code that continues from its record", () => {
	test("has the same result regardless of the append at which its worker dies, and of the worker that continues", async () => {
		await fc.assert(
			fc.asyncProperty(programs, fc.nat(), async (program, seed) => {
				expect(await crashesAreInvisible(program, seed)).toEqual([]);
			}),
			{ numRuns: 300 },
		);
	});
});
