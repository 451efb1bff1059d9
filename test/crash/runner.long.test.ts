// A process whose agent plans, acts and reflects is killed around every append.
import { beforeAll, describe, test } from "vitest";
import { killAndResume, numbers, runAlone } from "./runner.fixture.ts";

beforeAll(runAlone);

describe("a process killed around an append", () => {
	test.concurrent.for(numbers("own").slice(0, -1))(
		"after number %i: the run continues and ends the same, with its memory rebuilt [RUN-034]",
		(number) => killAndResume("own", `append ${number} after`),
	);

	test.concurrent.for(numbers("plain").slice(1))(
		"before number %i: a result is recorded together with its consequences, or not at all [RUN-034]",
		(number) => killAndResume("plain", `append ${number} before`),
	);

	test.concurrent.for(numbers("remembered").slice(1))(
		"before number %i: the run continues and ends the same, and nothing is in memory twice [RUN-040]",
		(number) => killAndResume("remembered", `append ${number} before`),
	);
});
