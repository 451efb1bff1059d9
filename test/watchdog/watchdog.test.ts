// A test that hangs fails by its name, in whatever way it hangs, and the run comes to its end.
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import { countResults, listFailures, readReport } from "../../tools/count-results.ts";
import { type CommandResult, runCommand } from "../../tools/run-command.ts";

const folder = import.meta.dirname;
const report = join(mkdtempSync(join(tmpdir(), "holdfast-watchdog-")), "report.json");
let run: CommandResult;

beforeAll(async () => {
	run = await runCommand(
		[
			process.execPath,
			join(folder, "../../node_modules/vitest/vitest.mjs"),
			"run",
			"--config",
			join(folder, "vitest-config.fixture.ts"),
		],
		{ folder, environment: { HOLDFAST_HANGING_REPORT: report }, timeout: 100_000 },
	);
});

test("a loop of microtasks is interrupted: its test fails by name, and the tests after it run", () => {
	expect(run.output).toContain(`HANGS for 1 s: ${folder}/microtasks-hangs.fixture.ts: awaits without an end`);
	expect(listFailures(readReport(report)).join("\n")).toMatch(
		/microtasks-hangs.fixture.ts: awaits without an end\n.*Test timed out in 1000ms/,
	);
	const tests = (readReport(report).testResults ?? []).flatMap(({ assertionResults }) => assertionResults);
	const passed = tests.filter(({ status }) => status === "passed").map(({ fullName }) => fullName);
	expect(passed).toEqual(["comes before", "comes after"]);
});

test("a loop without a pause is killed, with the file, the test and the function in which it runs", () => {
	expect(run.output).toMatch(
		/HANGS for 1 s: \S+\/loop-hangs.fixture.ts: turns without an end\n {4}at turn \(\S*loop-hangs.fixture.ts:\d+\)/,
	);
	expect(listFailures(readReport(report)).join("\n")).toContain(
		"loop-hangs.fixture.ts: turns without an end\n    It did not end",
	);
});

test("a promise that never settles times out, and a file that is never loaded is killed", () => {
	expect(run.output).toContain("loading-hangs.fixture.ts: while it is loaded");
	expect(listFailures(readReport(report)).join("\n")).toContain(
		"promise-hangs.fixture.ts: waits without an end",
	);
});

test("the run fails, with each of them", () => {
	expect(run.code).toBe(1);
	expect(countResults([readReport(report)])).toEqual({ passed: 2, failed: 4 });
});
