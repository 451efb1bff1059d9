// What the last line of the gate counts.
import { expect, test } from "vitest";
import { countResults, listFailures, readReport } from "../tools/count-results.ts";

const green = { success: true, numPassedTests: 5, numFailedTests: 0 };

test("tests that run twice pass once and fail each time", () => {
	expect(countResults([green, green])).toEqual({ passed: 5, failed: 0 });
	expect(countResults([green, { ...green, success: false, numFailedTests: 2 }])).toEqual({
		passed: 5,
		failed: 2,
	});
});

test("a run without a report, or with a file that could not start, is a failure", () => {
	expect(countResults([green, readReport("no-such-report.json")])).toEqual({ passed: 5, failed: 1 });
	expect(countResults([{ ...green, success: false }])).toEqual({ passed: 5, failed: 1 });
});

test("a failed test is listed with its file and what went wrong, and a file that could not run with its reason", () => {
	const report = {
		...green,
		testResults: [
			{ name: `${process.cwd()}/a.test.ts`, status: "passed", message: "", assertionResults: [] },
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
