// What the last line of the gate counts.
import { expect, test } from "vitest";
import { countResults, listFailures, listSlow, readReport } from "../tools/count-results.ts";

const green = { success: true, numPassedTests: 5, numFailedTests: 0 };

test("passed and failed tests of all reports are summed", () => {
	expect(countResults([green, green])).toEqual({ passed: 10, failed: 0 });
	expect(countResults([green, { ...green, success: false, numFailedTests: 2 }])).toEqual({
		passed: 10,
		failed: 2,
	});
});

test("tests that run again pass once and fail each time", () => {
	expect(countResults([green], [green])).toEqual({ passed: 5, failed: 0 });
	expect(countResults([green], [{ ...green, success: false, numFailedTests: 2 }])).toEqual({
		passed: 5,
		failed: 2,
	});
});

test("a test that was running when its process was killed has failed, and so has a file that was not loaded", () => {
	const killed = {
		...green,
		testResults: [
			{
				name: `${process.cwd()}/a.test.ts`,
				status: "passed",
				message: "",
				assertionResults: [
					{ fullName: "holds", status: "passed", failureMessages: [] },
					{ fullName: "hangs", status: "pending", failureMessages: [] },
					{ fullName: "is not for here", status: "skipped", failureMessages: [] },
				],
			},
			{ name: `${process.cwd()}/b.test.ts`, status: "passed", message: "", assertionResults: [] },
		],
	};
	expect(countResults([killed])).toEqual({ passed: 5, failed: 2 });
	expect(listFailures(killed)).toEqual([
		"FAILED a.test.ts: hangs\n    It did not end: its process was killed before.",
		"FAILED b.test.ts: (the file)\n    It did not end: its process was killed before.",
	]);
});

test("a missing report, and a file that could not start, count as failures", () => {
	expect(countResults([green, readReport("no-such-report.json")])).toEqual({ passed: 5, failed: 1 });
	expect(countResults([{ ...green, success: false }])).toEqual({ passed: 5, failed: 1 });
});

test("a failed test is listed with its file and its error, and a file that could not run with its reason", () => {
	const report = {
		...green,
		testResults: [
			{
				name: `${process.cwd()}/a.test.ts`,
				status: "passed",
				message: "",
				assertionResults: [{ fullName: "holds", status: "passed", failureMessages: [] }],
			},
			{
				name: `${process.cwd()}/b.test.ts`,
				status: "failed",
				message: "",
				assertionResults: [
					{ fullName: "holds", status: "passed", failureMessages: [] },
					{
						fullName: "breaks",
						status: "failed",
						failureMessages: ["expected 1\n    at b.ts:1\n    at node_modules/x"],
					},
				],
			},
			{
				name: `${process.cwd()}/c.test.ts`,
				status: "failed",
				message: "no such module",
				assertionResults: [],
			},
		],
	};
	expect(listFailures(report)).toEqual([
		"FAILED b.test.ts: breaks\n    expected 1\n        at b.ts:1",
		"FAILED c.test.ts: (the file)\n    no such module",
	]);
	expect(listFailures(green)).toEqual([]);
});

test("the slowest files and tests are listed, the slowest first", () => {
	const file = (name: string, took: number, tests: readonly (readonly [string, number | null])[]) => ({
		name: `${process.cwd()}/${name}`,
		status: "passed",
		message: "",
		startTime: 1_000,
		endTime: 1_000 + took,
		assertionResults: tests.map(([fullName, duration]) => ({
			fullName,
			status: "passed",
			duration,
			failureMessages: [],
		})),
	});
	const testResults = [
		file("a.test.ts", 300, [["one", 100]]),
		file("b.test.ts", 12_340, [
			["two", 12_000],
			["never run", null],
		]),
	];
	expect(listSlow({ ...green, testResults })).toEqual([
		"  12.3 s  b.test.ts",
		"   0.3 s  a.test.ts",
		"  12.0 s  b.test.ts: two",
		"   0.1 s  a.test.ts: one",
		"   0.0 s  b.test.ts: never run",
	]);
	expect(listSlow({ ...green, testResults }, 1)).toHaveLength(2);
	expect(listSlow(green)).toEqual([]);
});
