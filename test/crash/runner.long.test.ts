// A process whose agent plans, acts and reflects is killed around every append.
import { beforeAll, describe, test } from "vitest";
import { killAndResume, numbers, runAlone } from "./runner.fixture.ts";

beforeAll(runAlone);

describe("a process killed around an append", () => {
	test.concurrent.for(numbers("own").slice(0, -1))(
		"after number %i: the run continues to the same end, its memory made anew [RUN-034]",
		(number) => killAndResume("own", `append ${number} after`),
	);

	test.concurrent.for(numbers("plain").slice(1))(
		"before number %i: a result is on record with what is made of it, or neither is [RUN-034]",
		(number) => killAndResume("plain", `append ${number} before`),
	);

	test.concurrent.for(numbers("remembered").slice(1))(
		"before number %i: the run continues to the same end, and nothing is in memory twice [RUN-040]",
		(number) => killAndResume("remembered", `append ${number} before`),
	);
});
