import { expect, test } from "vitest";
import { raceThreadDeletions } from "./racing-deletions.fixture.ts";

test.each(Array.from({ length: 60 }, (_, index) => index + 4))(
	"deletions of threads that race with other requests leave only cancelled runs (seed %i)",
	async (seed) => {
		expect(await raceThreadDeletions(seed)).toEqual({ tables: [], entries: [], records: [] });
	},
);
