// What the last line of the gate counts.
import { expect, test } from "vitest";
import { countResults, readReport } from "../tools/count-results.ts";

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
