// A script that runs again from its record takes the same course, wherever it was interrupted.
import { expect, test } from "vitest";
import { Script } from "./script.ts";
import { interruptedScriptsAgree, limit, request, start } from "./script-programs.fixture.ts";

test("an interrupted script behaves like an undisturbed one", () => interruptedScriptsAgree(25), 120_000);

test("a record of another script is reported, with the first call that differs", async () => {
	const script = new Script(start("await tools.other({});"), limit);
	const requested = request([{ toolName: "step", arguments: {} }], 0);
	expect(await script.advance([requested], 1)).toEqual({
		kind: "diverged",
		expected: "step",
		came: "other",
	});
	script.stop();
});
