import { expect, test } from "vitest";
import { raceThreadDeletions } from "./racing-deletions.fixture.ts";

test.each([1, 2, 3])(
	"deletions of threads that race with other requests leave only cancelled runs (seed %i)",
	async (seed) => {
		expect(await raceThreadDeletions(seed)).toEqual({ tables: [], entries: [], records: [] });
	},
);
