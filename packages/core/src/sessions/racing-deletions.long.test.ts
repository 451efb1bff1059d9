import { expect, test } from "vitest";
import { raceDeletions } from "./racing-deletions.fixture.ts";

test.each(Array.from({ length: 100 }, (_, index) => index + 4))(
	"deletions that race with other requests leave only cancelled runs (seed %i)",
	async (seed) => {
		expect(await raceDeletions(seed)).toEqual({ tables: [], entries: [], records: [] });
	},
);
