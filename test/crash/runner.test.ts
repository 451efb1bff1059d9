// A process whose agent plans, acts and reflects is killed between plan, audit and act, and while it recovers. The longer run
// kills it around every append.
import { beforeAll, describe, test } from "vitest";
import { killAndResume, runAlone } from "./runner.fixture.ts";

beforeAll(runAlone);

describe("a process killed between plan, audit and act", () => {
	test.concurrent.for([
		["plan 1 entered", "own"],
		["plan 4 entered", "remembered"],
		["audit of sanitizers written", "own"],
		["audit of toolDenylist written", "remembered"],
		["post entered", "remembered"],
		["post effected", "own"],
		["record entered", "own"],
		["record effected", "remembered"],
		["memory written", "own"],
		["memory written", "remembered"],
	] as const)('at "%s", memory: %s', ([moment, session]) => killAndResume(session, moment));

	test.concurrent.for(["recover", "whatever"] as const)("is found by %s()", (how) =>
		killAndResume("own", "append 14 after", how),
	);

	test.concurrent.for([
		[8, "append 1 before"],
		[11, "append 1 after"],
		[13, "append 2 after"],
	] as const)("after append %i, and again at %s while it recovers", ([number, again]) =>
		killAndResume("own", `append ${number} after`, "resume", again),
	);
});
