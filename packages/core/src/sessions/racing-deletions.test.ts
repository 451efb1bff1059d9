import { expect, test } from "vitest";
import { raceDeletions } from "./racing-deletions.fixture.ts";

test.each([1, 2, 3])(
	"deletions that race with other requests leave only cancelled runs (seed %i)",
	async (seed) => {
		expect(await raceDeletions(seed)).toEqual({ tables: [], entries: [], records: [] });
	},
);
